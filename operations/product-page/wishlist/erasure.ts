import { belongsToSubject, type ErasureHandler } from '#operations/store/index'

/** Erasure keeps the wishes, but removes the visitor's contact. */
export const visitorErasure: ErasureHandler = {
  async erase(ctx, person) {
    await ctx.db
      .deleteFrom('wishlist_visitors')
      .where(belongsToSubject(person, { email: 'email', phoneKey: 'phone_key' }))
      .execute()
  },
}
