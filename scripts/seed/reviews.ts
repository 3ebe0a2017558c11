/** The demo's reviews, requests and testimonials. No message leaves. */

import { dispatchWords } from '#operations/reviews/requests/plan'
import { defaultReviewSettings } from '#operations/reviews/settings/schema'
import { reviewWords } from '#operations/reviews/submitting/submit'
import { defaultTestimonialSettings } from '#operations/reviews/testimonials/schema'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { reviewPictures, uploaded } from './media.ts'
import { Random } from './random.ts'
import { type PlannedDispatch, planDispatches } from './review-plan.ts'
import { ratingsFor, textOf, writers } from './review-texts.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoShop } from './shop.ts'
import type { DemoStore } from './store.ts'
import { dayMs, hourMs, minuteMs } from './timeline.ts'

type ReviewRow = SeedRow<'product_reviews'>

/** 180 reviews, 360 requests in 240 messages, 6 testimonials. After the inbox, ten of whose people wrote one. */
export async function seedAuroraReviews(
  ctx: Context,
  store: DemoStore,
  shop: DemoShop,
  templateIds: ReadonlyMap<string, number>,
): Promise<void> {
  const random = new Random('aurora reviews')
  const contacts = await ctx.db.selectFrom('contacts').select('phone').execute()
  const orders = shop.orders.filter((order) => order.currency === ctx.store.currency)
  const plan = planDispatches(orders, new Set(contacts.map((row) => row.phone)), store.timeline, random)
  const products = await ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'name', 'image_url'])
    .where('product_id', '<=', '1024')
    .orderBy('product_id')
    .execute()
  const reviews = reviewRows(store, plan, products, random)
  const reviewOf = new Map(reviews.map((row) => [`${row.order_id}\n${row.order_item_id}`, row.id]))
  await ctx.transaction(async (tx) => {
    const now = store.timeline.now
    const settings = {
      ...defaultReviewSettings,
      isEnabled: true,
      request: { ...defaultReviewSettings.request, channel: 'messaging-or-email' },
      reminder: { ...defaultReviewSettings.reminder, isEnabled: true },
      autoPublish: { ...defaultReviewSettings.autoPublish, mode: 'rating' },
      message: {
        ...defaultReviewSettings.message,
        officialapiTemplateId: templateIds.get('review_request') ?? null,
      },
    }
    await insertRows(tx.system, 'review_settings', store.id, [
      {
        content: settings,
        // Nobody is asked about what was delivered before the demo began.
        requests_since: now,
        scanned_to: now,
        created_at: store.timeline.ago(400),
        updated_at: store.timeline.ago(200),
      },
    ])
    await insertRows(tx.system, 'product_reviews', store.id, reviews)
    await insertRows(tx.system, 'review_messages', store.id, messageRows(plan))
    await insertRows(tx.system, 'message_ledger', store.id, messageRows(plan).map(ledgerRow))
    await insertRows(tx.system, 'review_dispatches', store.id, dispatchRows(plan, reviewOf))
    await seedTestimonials(tx, store, 6)
  })
}

/** 3 reviews and a testimonial. */
export async function seedBorealisReviews(ctx: Context, store: DemoStore): Promise<void> {
  const random = new Random('borealis reviews')
  const products = await ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'name', 'image_url'])
    .orderBy('product_id')
    .limit(3)
    .execute()
  const rows = products.map((product, n) =>
    reviewRow(store, {
      name: `borealis ${n}`,
      product,
      rating: 5 - n,
      status: n === 2 ? 'pending' : 'approved',
      source: 'storefront',
      person: { name: writers[n]!, email: `reader${n}@example.com`, phone: null },
      at: store.timeline.ago(3 + 20 * (2 - n)),
      random,
    }),
  )
  await ctx.transaction(async (tx) => {
    await insertRows(tx.system, 'product_reviews', store.id, rows)
    await seedTestimonials(tx, store, 1)
  })
}

interface Product {
  product_id: string
  name: string
  image_url: string | null
}

interface Reviewed {
  /** Of its id. */
  name: string
  product: Product
  rating: number
  status: string
  source: string
  person: { name: string; email: string | null; phone: string | null }
  at: Date
  dispatch?: PlannedDispatch
  random: Random
}

function reviewRow(store: DemoStore, given: Reviewed): ReviewRow {
  const { product, rating, status, source, person, at, dispatch, random } = given
  const { title, text } = textOf(rating, random)
  const isPurchase = dispatch !== undefined
  const moderatedAt =
    status === 'pending' ? null : new Date(Math.min(at.getTime() + 5 * hourMs, store.timeline.now.getTime()))
  return {
    id: namedId(`review ${given.name}`, at.getTime()),
    product_id: product.product_id,
    product_name: product.name,
    product_image_url: product.image_url,
    variant_id: dispatch?.item.variantId ?? null,
    variant_name: null,
    order_id: dispatch?.order.id ?? null,
    order_item_id: dispatch?.item.id ?? null,
    order_number: dispatch?.order.number ?? null,
    customer_name: person.name,
    customer_email: person.email,
    customer_phone: person.phone,
    phone_key: person.phone && phoneKey(person.phone),
    rating,
    title,
    text,
    images: [],
    show_images: true,
    status,
    rejection_reason: status === 'rejected' ? 'Não fala do produto' : null,
    verified: isPurchase,
    verified_source: isPurchase ? 'order' : null,
    featured: false,
    reply_text: null,
    reply_author: null,
    replied_at: null,
    source,
    import_key: source === 'import' ? namedId(`import ${given.name}`, 0) : null,
    search_text: reviewWords({ ...person, title, text, productName: product.name }),
    reviewed_at: at,
    moderated_at: source === 'import' ? null : moderatedAt,
    moderated_by:
      moderatedAt === null || source === 'import' ? null : isPurchase && rating >= 4 ? 'auto' : 'Marco Teles',
    created_at: at,
    updated_at: moderatedAt ?? at,
  }
}

/** Newest first: 24 that wait, then those that were moderated. */
function reviewRows(
  store: DemoStore,
  plan: readonly PlannedDispatch[],
  products: readonly Product[],
  random: Random,
): ReviewRow[] {
  const { timeline } = store
  const asked = plan
    .filter((each) => each.status === 'reviewed')
    .map((dispatch) => ({
      dispatch,
      at: new Date(dispatch.scheduledAt.getTime() + random.between(0.2, 2) * dayMs),
    }))
  const others = Array.from({ length: 70 }, (_none, n) => ({
    source: n < 40 ? 'storefront' : 'import',
    // The 16 newest of the storefront wait: six of the last week, ten of the three before.
    at: timeline.ago(
      n < 6 ? random.between(0.3, 6.5) : n < 16 ? random.between(8, 28) : random.between(36, 399),
    ),
    product: products[n % products.length]!,
    person: { name: writers[n % writers.length]!, email: `leitor${n}@example.com`, phone: null },
  }))
  const all = [
    ...asked.map(({ dispatch, at }, n) => ({
      name: `request ${n}`,
      source: 'request',
      at,
      dispatch,
      product: products.find((each) => each.product_id === dispatch.item.productId)!,
      person: {
        name: dispatch.order.customer.name ?? 'Cliente',
        email: dispatch.order.customer.email,
        phone: dispatch.order.customer.phone,
      },
    })),
    ...others.map((each, n) => ({ ...each, name: `other ${n}`, dispatch: undefined })),
  ].sort((a, b) => b.at.getTime() - a.at.getTime())
  const isPending = (n: number): boolean => n < 24
  const moderated = random.shuffled(all.slice(24))
  const rejected = new Set(moderated.filter((each) => each.source !== 'import').slice(0, 8))
  const ratings = ratingsFor(
    all.map((each, n) => (isPending(n) && each.dispatch) || rejected.has(each)),
    random,
  )
  const rows = all.map((each, n) => {
    const { dispatch, ...rest } = each
    const status = isPending(n) ? 'pending' : rejected.has(each) ? 'rejected' : 'approved'
    return reviewRow(store, {
      ...rest,
      ...(dispatch ? { dispatch } : {}),
      rating: ratings[n]!,
      status,
      random,
    })
  })
  return adorned(store, rows, random)
}

/** 40 with images, 2 of them hidden; 12 featured; 35 with a reply. */
function adorned(store: DemoStore, rows: ReviewRow[], random: Random): ReviewRow[] {
  const approved = random.shuffled(rows.filter((row) => row.status === 'approved'))
  for (const [n, row] of approved.slice(0, 40).entries()) {
    row.images = Array.from({ length: 1 + (n % 3) }, (_none, at) => ({
      id: namedId(`picture ${n} ${at}`, 0),
      url: uploaded(store, `review-${((n + at) % reviewPictures) + 1}`),
    }))
    row.show_images = n >= 2
  }
  for (const row of approved.filter((each) => each.rating === 5).slice(0, 12)) row.featured = true
  for (const row of approved.slice(20, 55)) {
    row.reply_text =
      row.rating >= 4 ? 'Que bom saber! Obrigada pela avaliação.' : 'Sentimos muito. Já escrevemos para você.'
    row.reply_author = store.name
    row.replied_at = new Date((row.reviewed_at as Date).getTime() + 20 * hourMs)
  }
  return rows
}

const idOf = ({ order, item }: PlannedDispatch): string =>
  namedId(`review request ${order.id} ${item.id}`, Date.parse(order.deliveredAt ?? order.placedAt))

/** A minute after they were due. */
const leftAt = ({ scheduledAt }: PlannedDispatch): Date => new Date(scheduledAt.getTime() + minuteMs)

function messageRows(plan: readonly PlannedDispatch[]): SeedRow<'review_messages'>[] {
  const byMessage = Map.groupBy(
    plan.filter((each) => each.message !== null),
    (each) => each.message,
  )
  return [...byMessage.values()].map(([first]) => {
    const { order, channel } = first!
    const at = leftAt(first!)
    const id = idOf(first!)
    return {
      id,
      number: 1,
      kind: 'first',
      order_id: order.id,
      channel,
      state: 'sent',
      email: channel === 'email' ? order.customer.email : null,
      phone: channel === 'messaging' ? order.customer.phone : null,
      content: null,
      reservation_id: null,
      calls: 1,
      called_at: at,
      next_try_at: at,
      provider_message_id: channel === 'messaging' ? `wamid.${id}` : `<${id}@sandbox.invalid>`,
      failure: null,
      sent_at: at,
      created_at: at,
      updated_at: at,
    }
  })
}

function ledgerRow(row: SeedRow<'review_messages'>): SeedRow<'message_ledger'> {
  const isMessaging = row.channel === 'messaging'
  const at = row.sent_at as Date
  return {
    message_id: row.id,
    channel: row.channel,
    source: 'review-request',
    source_id: row.id,
    phone_key: row.phone ? phoneKey(row.phone) : null,
    email: row.email?.toLowerCase() ?? null,
    provider_message_id: row.provider_message_id ?? null,
    status: isMessaging ? 'read' : 'sent',
    failure_code: null,
    sent_at: at,
    delivered_at: isMessaging ? new Date(at.getTime() + minuteMs) : null,
    read_at: isMessaging ? new Date(at.getTime() + 30 * minuteMs) : null,
    failed_at: null,
  }
}

function dispatchRows(
  plan: readonly PlannedDispatch[],
  reviewOf: ReadonlyMap<string, string>,
): SeedRow<'review_dispatches'>[] {
  const firstOf = new Map<number, string>()
  for (const each of plan) {
    if (each.message !== null && !firstOf.has(each.message)) firstOf.set(each.message, idOf(each))
  }
  return plan.map((each) => {
    const { order, item, status, message } = each
    const sentAt = message === null ? null : leftAt(each)
    const plannedAt = new Date(order.deliveredAt ?? order.paidAt ?? order.placedAt)
    return {
      id: idOf(each),
      order_id: order.id,
      order_number: order.number,
      order_item_id: item.id,
      product_id: item.productId!,
      product_name: item.name,
      variant_id: item.variantId,
      customer_name: order.customer.name,
      customer_email: order.customer.email,
      customer_phone: order.customer.phone,
      phone_key: order.customer.phone && phoneKey(order.customer.phone),
      channel: each.channel,
      status,
      reason: each.reason,
      scheduled_at: each.scheduledAt,
      sent_at: sentAt,
      last_sent_at: sentAt,
      next_reminder_at: null,
      reminders_sent: 0,
      review_id: reviewOf.get(`${order.id}\n${item.id}`) ?? null,
      message_id: message === null ? null : firstOf.get(message)!,
      search_text: dispatchWords(
        {
          number: order.number,
          customer_name: order.customer.name,
          customer_email: order.customer.email,
          customer_phone: order.customer.phone,
        },
        item.name,
      ),
      created_at: plannedAt,
      updated_at: sentAt ?? plannedAt,
    }
  })
}

const quotes: [author: string, title: string | null, text: string, rating: number | null][] = [
  ['Helena Duarte', 'Recife', 'Chegou antes do prazo e muito bem embalado. Já fiz o segundo pedido.', 5],
  ['Caio Menezes', 'Arquiteto', 'Peças bonitas de verdade, iguais às fotos.', 5],
  ['Luísa Prates', 'Curitiba', 'O atendimento resolveu a minha troca no mesmo dia.', 5],
  ['Rafael Moura', null, 'Compro os presentes da família toda aqui.', 4],
  ['Joana Freire', 'Fotógrafa', 'A manta é ainda mais macia do que eu imaginava.', 5],
  ['Pedro Antunes', 'Salvador', 'Loja séria, preço justo.', null],
]

/** The last of several is off. */
async function seedTestimonials(tx: Context, store: DemoStore, count: number): Promise<void> {
  const rows = quotes.slice(0, count).map(([author, title, text, rating], n) => {
    const at = store.timeline.ago(90 - n)
    return {
      id: namedId(`${store.slug} testimonial ${n}`, at.getTime()),
      position: n + 1,
      author_name: author,
      author_title: title,
      text,
      rating,
      photo_url: null,
      is_enabled: count === 1 || n < count - 1,
      created_at: at,
      updated_at: at,
    }
  })
  await insertRows(tx.system, 'testimonials', store.id, rows)
  if (count === 1) return
  const at = store.timeline.ago(80)
  await insertRows(tx.system, 'testimonial_settings', store.id, [
    { content: { ...defaultTestimonialSettings, isEnabled: true }, created_at: at, updated_at: at },
  ])
}
