/** The writable part of a discount, common to all kinds. */
export type KindName = 'promotion' | 'bundle' | 'gift'

/** The state that a write gives a discount. */
export interface Draft<C extends object = object> {
  name: string
  isActive: boolean
  startsAt: string | null
  endsAt: string | null
  content: C
}
