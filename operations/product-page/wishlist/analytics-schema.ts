import { platformId } from '#operations/storefront/index'
import { count, currency, day, money, object, z } from '#runtime/schema'

export const wishlistAnalytics = object({
  startDate: day,
  endDate: day,
  currency,
  totals: object({
    adds: count.describe('Products that came into a list; adding what is there counts nothing'),
    removes: count,
    shoppers: count.describe('Visitors who added something'),
    contacts: count.describe('Shoppers with an email or phone'),
    activeItems: count.describe('In lists now'),
    addsToCart: count,
    purchases: count.describe('Orders of a wished product by the contact within 30 days, once a product'),
    revenue: money.describe('Amount of those order lines, less refunds'),
  }),
  products: z.array(
    object({
      productId: platformId,
      name: z.string().nullable(),
      imageUrl: z.string().nullable(),
      adds: count,
      removes: count,
      shoppers: count,
      currentlyWished: count,
      addsToCart: count,
      purchases: count,
    }),
  ),
  series: z.array(object({ date: day, adds: count, removes: count })),
})
