import { belongsToSubject, type ErasureHandler } from '#operations/store/index'

/** Erases a person from wishlists: deletes the visitor's contact and keeps the wishes, which are anonymous without it. */
export const visitorErasure: ErasureHandler = {
  async erase(ctx, person) {
    await ctx.db
      .deleteFrom('wishlist_visitors')
      .where(belongsToSubject(person, { email: 'email', phoneKey: 'phone_key' }))
      .execute()
  },
}
