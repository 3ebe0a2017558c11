/** The demo's reviews and review requests. Sends nothing. */

import { buildDispatchSearchText } from '#operations/reviews/requests/plan'
import { buildReviewSearchText } from '#operations/reviews/submitting/submit'
import type { Context } from '#runtime/context'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import texts from './data/texts.json' with { type: 'json' }
import type { DemoStore } from './demo-store.ts'
import { getUploadUrl } from './media.ts'
import { Random } from './random.ts'
import { type PlannedDispatch, planDispatches } from './review-plan.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'

type ReviewRow = SeedRow<'product_reviews'>
const { writers } = texts
/** Number of reviews per rating, and number of reviewers' pictures. */
const ratings: Record<string, number> = { 1: 8, 2: 10, 3: 20, 4: 46, 5: 96 }
const pictures = 8

/** 180 reviews, 360 requests in 240 messages. After the inbox, ten of whose people wrote a review. */
export async function seedAuroraReviews(ctx: Context, store: DemoStore, shop: DemoShop): Promise<void> {
  const random = new Random('aurora reviews')
  const contacts = await ctx.db.selectFrom('contacts').select('phone').execute()
  const orders = shop.orders.filter((order) => order.currency === ctx.store.currency)
  const plan = planDispatches(orders, new Set(contacts.map((row) => row.phone)), store.timeline, random)
  const reviews = reviewRows(store, plan, await readProducts(ctx, 24), random)
  const reviewOf = new Map(reviews.map((row) => [`${row.order_id}\n${row.order_item_id}`, row.id]))
  const { messages, dispatches } = requestRows(plan, reviewOf)
  await ctx.transaction(async (tx) => {
    await insertRows(tx.system, 'product_reviews', store.id, reviews)
    await insertRows(tx.system, 'review_messages', store.id, messages)
    await insertRows(tx.system, 'review_dispatches', store.id, dispatches)
    await recordSent(tx.system, store.id, messages, ({ id, channel, phone, sent_at }) => {
      const isMessaging = channel === 'messaging'
      const after = (minutes: number) => new Date(sent_at!.getTime() + minutes * minuteMs)
      return {
        source: 'review-request',
        source_id: id,
        phone_key: phone ? phoneKey(phone) : null,
        ...(isMessaging
          ? { status: 'read', delivered_at: after(1), read_at: after(30) }
          : { status: 'sent' }),
      }
    })
  })
}

const readProducts = (ctx: Context, count: number) =>
  ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'name as product_name', 'image_url as product_image_url'])
    .orderBy('product_id')
    .limit(count)
    .execute()
type Product = Awaited<ReturnType<typeof readProducts>>[number]

interface Written {
  /** The name that its id is derived from. */
  name: string
  product: Product
  source: string
  person: { name: string; email: string | null; phone: string | null }
  at: Date
  dispatch?: PlannedDispatch
}

function reviewRow(
  store: DemoStore,
  { name, product, source, person, at, dispatch }: Written,
  rating: number,
  status: string,
  random: Random,
): ReviewRow {
  const [title, text] = random.pick(texts.reviews[String(rating) as keyof typeof texts.reviews]) as (
    | string
    | null
  )[]
  const isImport = source === 'import'
  const moderatedAt =
    status === 'pending' ? null : store.timeline.notAfterNow(new Date(at.getTime() + 5 * hourMs))
  return {
    id: idFromName(`review ${name}`, at.getTime()),
    ...product,
    variant_id: dispatch?.item.variantId ?? null,
    order_id: dispatch?.order.id ?? null,
    order_item_id: dispatch?.item.id ?? null,
    order_number: dispatch?.order.number ?? null,
    customer_name: person.name,
    customer_email: person.email,
    customer_phone: person.phone,
    phone_key: person.phone && phoneKey(person.phone),
    rating,
    title: title ?? null,
    text: text ?? null,
    images: [],
    show_images: true,
    status,
    rejection_reason: status === 'rejected' ? 'Não fala do produto' : null,
    verified: dispatch !== undefined,
    verified_source: dispatch ? 'order' : null,
    featured: false,
    reply_text: null,
    reply_author: null,
    replied_at: null,
    source,
    import_key: isImport ? idFromName(`import ${name}`, 0) : null,
    search_text: buildReviewSearchText({
      ...person,
      title: title ?? null,
      text: text ?? null,
      productName: product.product_name,
    }),
    reviewed_at: at,
    moderated_at: isImport ? null : moderatedAt,
    moderated_by: moderatedAt === null || isImport ? null : dispatch && rating >= 4 ? 'auto' : 'Marco Teles',
    created_at: at,
    updated_at: moderatedAt ?? at,
  }
}

/** Newest first: 24 pending ones, then moderated ones. */
function reviewRows(
  store: DemoStore,
  plan: readonly PlannedDispatch[],
  products: readonly Product[],
  random: Random,
): ReviewRow[] {
  const asked = plan
    .filter((each) => each.status === 'reviewed')
    .map((dispatch, n): Written => {
      const { name, email, phone } = dispatch.order.customer
      return {
        name: `request ${n}`,
        source: 'request',
        at: new Date(dispatch.scheduledAt.getTime() + random.between(0.2, 2) * dayMs),
        dispatch,
        product: products.find((each) => each.product_id === dispatch.item.productId)!,
        person: { name: name ?? 'Cliente', email, phone },
      }
    })
  // The 16 newest of the storefront are pending: six of the last week, ten of the three before.
  const others = Array.from({ length: 70 }, (_none, n): Written => {
    const [least, most] = n < 6 ? [0.3, 6.5] : n < 16 ? [8, 28] : [36, 399]
    return {
      name: `other ${n}`,
      source: n < 40 ? 'storefront' : 'import',
      at: store.timeline.ago(random.between(least!, most!)),
      product: products[n % products.length]!,
      person: { name: writers[n % writers.length]!, email: `leitor${n}@example.com`, phone: null },
    }
  })
  const all = [...asked, ...others].sort((one, other) => other.at.getTime() - one.at.getTime())
  const [waiting, moderated] = [new Set(all.slice(0, 24)), random.shuffled(all.slice(24))]
  const rejected = new Set(moderated.filter((each) => each.source !== 'import').slice(0, 8))
  // Three stars or fewer for pending reviews of a purchase, and for rejected ones.
  const isLow = (each: Written) => (waiting.has(each) && each.dispatch !== undefined) || rejected.has(each)
  const stars = Object.entries(ratings).flatMap(([rating, count]) =>
    Array<number>(count).fill(Number(rating)),
  )
  const lows = random.shuffled(stars.filter((rating) => rating <= 3))
  const needed = lows.splice(0, all.filter(isLow).length)
  const rest = random.shuffled([...lows, ...stars.filter((rating) => rating > 3)])
  const rows = all.map((each) => {
    const status = waiting.has(each) ? 'pending' : rejected.has(each) ? 'rejected' : 'approved'
    return reviewRow(store, each, isLow(each) ? needed.pop()! : rest.pop()!, status, random)
  })
  addExtras(store, rows, random)
  return rows
}

/** 40 with images, 2 of them hidden; 12 featured; 35 with a reply. */
function addExtras(store: DemoStore, rows: ReviewRow[], random: Random): void {
  const approved = random.shuffled(rows.filter((row) => row.status === 'approved'))
  for (const [n, row] of approved.slice(0, 40).entries()) {
    row.images = Array.from({ length: 1 + (n % 3) }, (_none, at) => ({
      id: idFromName(`picture ${n} ${at}`, 0),
      url: getUploadUrl(store, `review-${((n + at) % pictures) + 1}`),
    }))
    row.show_images = n >= 2
  }
  for (const row of approved.filter((each) => each.rating === 5).slice(0, 12)) row.featured = true
  for (const row of approved.slice(20, 55)) {
    row.reply_text =
      row.rating >= 4 ? 'Que bom saber! Obrigada pela avaliação.' : 'Sentimos muito. Já escrevemos para você.'
    row.reply_author = store.name
    row.replied_at = new Date(row.reviewed_at.getTime() + 20 * hourMs)
  }
}

const toId = ({ order, item }: PlannedDispatch): string =>
  idFromName(`review request ${order.id} ${item.id}`, Date.parse(order.deliveredAt ?? order.placedAt))

/** Requests of one order share a message, a minute after it was due; its id is the first request's. */
function requestRows(plan: readonly PlannedDispatch[], reviewOf: ReadonlyMap<string, string>) {
  const messages = new Map<number, SeedRow<'review_messages'>>()
  const dispatches = plan.map((each): SeedRow<'review_dispatches'> => {
    const { order, item, status, message, channel, scheduledAt, reason } = each
    const { name: customer_name, email: customer_email, phone: customer_phone } = order.customer
    const sentAt = message === null ? null : new Date(scheduledAt.getTime() + minuteMs)
    const plannedAt = new Date(order.deliveredAt ?? order.paidAt ?? order.placedAt)
    const id = toId(each)
    if (message !== null && sentAt && !messages.has(message)) {
      const isMessaging = channel === 'messaging'
      messages.set(message, {
        id,
        number: 1,
        kind: 'first',
        order_id: order.id,
        channel,
        state: 'sent',
        email: isMessaging ? null : customer_email,
        phone: isMessaging ? customer_phone : null,
        calls: 1,
        called_at: sentAt,
        next_try_at: sentAt,
        provider_message_id: isMessaging ? `wamid.${id}` : `<${id}@sandbox.invalid>`,
        sent_at: sentAt,
        created_at: sentAt,
        updated_at: sentAt,
      })
    }
    const customer = { customer_name, customer_email, customer_phone }
    return {
      id,
      order_id: order.id,
      order_number: order.number,
      order_item_id: item.id,
      product_id: item.productId!,
      product_name: item.name,
      variant_id: item.variantId,
      ...customer,
      phone_key: customer_phone && phoneKey(customer_phone),
      channel,
      status,
      reason,
      scheduled_at: scheduledAt,
      sent_at: sentAt,
      last_sent_at: sentAt,
      review_id: reviewOf.get(`${order.id}\n${item.id}`) ?? null,
      message_id: message === null ? null : messages.get(message)!.id,
      search_text: buildDispatchSearchText({ number: order.number, ...customer }, item.name),
      created_at: plannedAt,
      updated_at: sentAt ?? plannedAt,
    }
  })
  return { messages: [...messages.values()], dispatches }
}
