import { count, currency, instant, money, named, object, z } from '#runtime/schema'

const platformId = z.string().describe("The platform's own id")

export const product = named(
  'Product',
  object({
    id: platformId,
    name: z.string(),
    handle: z.string(),
    url: z.string(),
    imageUrl: z.string().nullable(),
    images: z.array(z.string()),
    brand: z.string().nullable(),
    categories: z.array(object({ id: platformId, name: z.string() })),
    tags: z.array(z.string()),
    price: money.describe('Of the cheapest variant'),
    compareAtPrice: money.nullable().describe('Struck-through price of the cheapest variant'),
    currency,
    stock: z.number().int().nullable().describe('Sum of the variants; null when one is not tracked'),
    isPublished: z.boolean(),
    variants: z.array(
      object({
        id: platformId,
        name: z.string(),
        sku: z.string().nullable(),
        options: z.array(object({ name: z.string(), value: z.string() })),
        price: money,
        compareAtPrice: money.nullable(),
        stock: z.number().int().nullable().describe('Null when it is not tracked'),
        isAvailable: z.boolean(),
        imageUrl: z.string().nullable(),
      }),
    ),
    createdAt: instant,
    updatedAt: instant,
  }),
)

export const category = named(
  'Category',
  object({
    id: platformId,
    name: z.string(),
    parentId: platformId.nullable(),
    path: z.string().describe('From the root, such as Home > Kitchen'),
    handle: z.string(),
    url: z.string(),
    productCount: count,
    position: z.number().int().describe('Among its siblings'),
  }),
)
