/** Answers requests by calling the store's read operations; the assistant computes no figures of its own. */
import { DateTime } from 'luxon'
import type { Context } from '#runtime/context'
import { z } from '#runtime/schema'
import { formatMoney } from '#runtime/values/localized'
import { type Period, type Topic, texts, toLanguage } from './texts.ts'

const statistics = z.object({
  messagesSent: z.number(),
  conversions: z.number(),
  revenue: z.number(),
  currency: z.string(),
})
const orders = z.object({
  totals: z.array(z.object({ currency: z.string(), orders: z.number(), revenue: z.number() })),
})
const inbox = z.object({
  openConversations: z.number(),
  unreadConversations: z.number(),
  unassignedConversations: z.number(),
})
const campaigns = z.object({
  data: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      counters: z.object({ total: z.number(), sent: z.number() }),
    }),
  ),
  total: z.number(),
})
const usage = z.object({ used: z.number(), limit: z.number(), remaining: z.number() })

/** Builds the reply to a request, in the store's language. */
export async function answerRequest(
  ctx: Context,
  { topic, period }: { topic: Topic; period: Period },
): Promise<string> {
  const say = texts[toLanguage(ctx.store.locale)]
  const days = toDateRange(ctx, period)
  const named = say.periods[period]
  switch (topic) {
    case 'sales': {
      const found = await callOperation(ctx, '/statistics', days, statistics)
      if (!found) return say.notThere
      const revenue = formatAmount(ctx, found.revenue, found.currency)
      return say.sales(named, found.conversions, revenue, found.messagesSent)
    }
    case 'orders': {
      const found = await callOperation(ctx, '/analytics/orders', { ...days, page: '1', limit: '1' }, orders)
      if (!found) return say.notThere
      const totals = found.totals.filter((each) => each.orders > 0)
      if (totals.length === 0) return say.noOrders(named)
      const lines = totals.map((each) => `${each.orders} (${formatAmount(ctx, each.revenue, each.currency)})`)
      return say.orders(named, lines.join(', '))
    }
    case 'inbox': {
      const found = await callOperation(ctx, '/inbox/status', {}, inbox)
      if (!found) return say.notThere
      return say.inbox(found.openConversations, found.unreadConversations, found.unassignedConversations)
    }
    case 'campaigns': {
      const found = await callOperation(ctx, '/campaigns', { page: '1', limit: '3' }, campaigns)
      if (!found) return say.notThere
      if (found.total === 0) return say.noCampaigns
      const lines = found.data.map(
        ({ name, status, counters }) => `${name}: ${status}, ${counters.sent}/${counters.total}`,
      )
      return say.campaigns(found.total, lines.join('\n'))
    }
    case 'usage': {
      const found = await callOperation(ctx, '/subscription/usage', {}, usage)
      return found ? say.usage(found.used, found.limit, found.remaining) : say.notThere
    }
    default:
      return say.help
  }
}

/** Calls a read operation; null if this server does not have it. */
async function callOperation<S extends z.ZodTypeAny>(
  ctx: Context,
  path: string,
  query: Record<string, string>,
  answer: S,
): Promise<z.infer<S> | null> {
  const found = await ctx.services.catalog.read(ctx, path, query)
  return found === undefined ? null : answer.parse(found)
}

/** Returns the first and last local day of a period, both inclusive. */
function toDateRange(ctx: Context, period: Period): { startDate: string; endDate: string } {
  const today = DateTime.fromJSDate(ctx.now(), { zone: ctx.store.timezone })
  const day = (back: number): string => today.minus({ days: back }).toISODate()!
  const last = period === 'yesterday' ? 1 : 0
  const first = { today: 0, yesterday: 1, '7': 6, '30': 29 }[period]
  return { startDate: day(first), endDate: day(last) }
}

const formatAmount = (ctx: Context, amount: number, currency: string): string =>
  formatMoney(amount, currency, ctx.store.locale)
