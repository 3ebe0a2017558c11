/** The writable part of a discount, common to all kinds. */
export type KindName = 'promotion' | 'bundle' | 'gift'

/** The writable state of a discount, as it will be saved. */
export interface Draft<C extends object = object> {
  name: string
  isActive: boolean
  startsAt: string | null
  endsAt: string | null
  content: C
}
