import {
  day,
  id,
  instant,
  named,
  object,
  paging,
  queryFlag,
  queryInt,
  queryList,
  searchText,
  z,
} from '#runtime/schema'
import { rating } from '../common-schema.ts'

const reviewStatuses = ['pending', 'approved', 'rejected'] as const
const reviewSources = ['request', 'storefront', 'import'] as const

export const review = named(
  'Review',
  object({
    id,
    productId: z.string().nullable(),
    productName: z.string().nullable().describe('The name when the review was written'),
    productImageUrl: z.string().nullable(),
    variantId: z.string().nullable(),
    variantName: z.string().nullable(),
    orderId: z.string().nullable().describe('Set when it came from a purchase'),
    orderItemId: z.string().nullable(),
    orderNumber: z.string().nullable(),
    customerName: z.string(),
    customerEmail: z.string().nullable(),
    customerPhone: z.string().nullable(),
    rating,
    title: z.string().nullable(),
    text: z.string().nullable(),
    images: z.array(object({ id: z.string(), url: z.string() })),
    showImages: z.boolean(),
    status: z.enum(reviewStatuses),
    rejectionReason: z.string().nullable().describe('Never public'),
    verified: z.boolean(),
    verifiedSource: z.enum(['order', 'confirmed-email', 'merchant']).nullable(),
    featured: z.boolean(),
    reply: object({ text: z.string(), authorName: z.string(), repliedAt: instant }).nullable(),
    source: z.enum(reviewSources),
    reviewedAt: instant.describe("When it was written; of an import, the file's date"),
    moderatedAt: instant.nullable(),
    moderatedBy: z.string().nullable().describe("A member's name; auto when published by rule"),
    createdAt: instant,
    updatedAt: instant,
  }),
)

const ratingParam = queryInt(1, 5)

const reviewFilters = {
  status: queryList(z.enum(reviewStatuses)).optional().describe('Only reviews with one of these states'),
  rating: queryList(ratingParam).optional().describe('1 to 5'),
  productId: z.string().min(1).max(64).optional().describe('Only reviews of this product'),
  verified: queryFlag.optional().describe('true: only reviews of verified purchases; false: only the others'),
  featured: queryFlag.optional().describe('true: only featured reviews; false: only the others'),
  hasImages: queryFlag.optional().describe('true: only reviews with pictures; false: only those without'),
  hasReply: queryFlag.optional().describe('true: only answered reviews; false: only unanswered ones'),
  source: queryList(z.enum(reviewSources)).optional().describe('Only reviews that came in one of these ways'),
  search: searchText('In names, email, title, text and product name', 100),
  startDate: day.optional().describe('Filters by reviewedAt'),
  endDate: day.optional(),
}

export const reviewListQuery = object({
  ...paging,
  ...reviewFilters,
  sort: z
    .enum(['newest', 'oldest', 'highest', 'lowest'])
    .default('newest')
    .describe('Order, by date or by rating'),
})
export const reviewExportQuery = object(reviewFilters)
export type ReviewFilters = z.infer<typeof reviewExportQuery>

export const rejectionReason = z
  .string()
  .trim()
  .max(300, 'must have at most 300 characters')
  .nullable()
  .optional()
  .describe('Kept for a rejection, for your team')
