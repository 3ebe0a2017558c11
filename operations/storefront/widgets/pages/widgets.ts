import { refuse } from '#runtime/errors'
import { answerCompressed } from '#runtime/http/compression-cache'
import { object, z } from '#runtime/schema'
import { storefrontPage } from '../../visits/storefront-page.ts'
import { publish } from '../published.ts'
import { widgetPages } from '../widgets.ts'

const query = object({
  page: z.enum(widgetPages).default('other'),
  productId: z.string().min(1).max(64).optional(),
  cards: z
    .string()
    .max(12_000)
    .optional()
    .describe('Products that the page lists, separated by commas: ids, or handles with a slash before each'),
})
const cardsAtMost = 50

const freshSeconds = 60

export default storefrontPage({
  method: 'GET',
  path: '/widgets',
  description: 'The widgets of a page: public settings and texts of every widget that is on.',
  trust: 'Public data: what any visitor of the shop sees.',
  kind: 'read',
  feature: null,
  async handler(ctx, visit) {
    const { page, productId = null, cards: listed } = visit.query(query)
    const named = [...new Set((listed?.split(',') ?? []).map((each) => each.trim()))].sort()
    const cards = named.filter((each) => each !== '' && !each.startsWith('/') && each.length <= 64)
    const handles = named.filter((each) => each.startsWith('/')).map((each) => each.slice(1))
    if (cards.length + handles.length > cardsAtMost) {
      throw refuse('bad_request', `cards: may name ${cardsAtMost} products`)
    }
    const { packed, until } = await publish(ctx, visit, { page, productId, cards, handles })
    const remainingSeconds = until === null ? freshSeconds : Math.floor((until - ctx.clock.ms()) / 1000)
    const maxAge = Math.max(0, Math.min(freshSeconds, remainingSeconds))
    const control = `public, max-age=${maxAge}, stale-while-revalidate=300`
    return answerCompressed(packed, visit, { 'cache-control': control })
  },
})
