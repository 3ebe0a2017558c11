/** What is written of a discount, of whichever kind. */
export type KindName = 'promotion' | 'bundle' | 'gift'

/** What a write wants a discount to be. */
export interface Draft<C extends object = object> {
  name: string
  isActive: boolean
  startsAt: string | null
  endsAt: string | null
  content: C
}
