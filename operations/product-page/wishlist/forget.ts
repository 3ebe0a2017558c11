import { type Forgets, isTheirs } from '#operations/store/door'

/** Who wants to be forgotten: their wishes stay, of a visitor whom nobody knows. */
export const forgetsVisitors: Forgets = {
  async forget(ctx, person) {
    await ctx.db
      .deleteFrom('wishlist_visitors')
      .where(isTheirs(person, { email: 'email', phoneKey: 'phone_key' }))
      .execute()
  },
}
