/** Products of the demo stores. */
import type { CategoryInput, ProductInput } from '#operations/store/ecommerce/sandbox-catalog'
import catalogs from './data/catalog.json' with { type: 'json' }
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** Name, picture, category, price in cents, price struck through, options of its variants. */
type Article = [
  name: string,
  motif: string,
  categoryId: string,
  price: number,
  before: number | null,
  ...string[],
]

export interface Catalog {
  categories: CategoryInput[]
  products: ProductInput[]
}

/** Units of scarce products; all others have plenty. */
const scarce: Record<string, number> = { '1036': 2, '1037': 0, '1038': 0, '1039': 0 }

/** Aurora has forty products: `1036` has two units left, `1037` to `1039` none, `1040` is not published. */
export function buildCatalog(
  slug: keyof typeof catalogs,
  timeline: Timeline,
  random: Random,
  pictures: string,
): Catalog {
  const { brand, optionName, articles } = catalogs[slug]
  const categories: CategoryInput[] = catalogs[slug].categories
  let variants = 0
  const products = (articles as Article[]).map((article, index): ProductInput => {
    const [name, motif, categoryId, price, before, ...options] = article
    const id = String(1001 + index)
    const picture = `${pictures}/${motif}-${id}`
    const imageUrl = `${picture}.svg`
    const parentId = categories.find((each) => each.id === categoryId)?.parentId
    return {
      id,
      name,
      brand,
      categoryIds: parentId ? [categoryId, parentId] : [categoryId],
      tags: before === null ? [] : ['oferta'],
      imageUrl,
      images: [imageUrl, `${picture}-near.svg`],
      isPublished: id !== '1040',
      createdAt: timeline.ago(random.between(60, 415)),
      updatedAt: timeline.ago(random.between(0.5, 55)),
      variants: (options.length > 0 ? options : [null]).map((option, position) => {
        const left = position === 0 || scarce[id] === undefined ? scarce[id] : 0
        // A scarce product with several variants uses one random draw.
        const plenty = position === 0 || left === undefined ? random.whole(6, 80) : 0
        variants += 1
        return {
          id: String(2000 + variants),
          name: option ?? name,
          sku: `${brand.slice(0, 3).toUpperCase()}-${id}-${position + 1}`,
          options: option ? [{ name: optionName, value: option }] : [],
          price: price / 100,
          compareAtPrice: before === null ? null : before / 100,
          stock: left ?? plenty,
        }
      }),
    }
  })
  return { categories, products }
}
