/** Data of the sandbox page: the newest objects of a store at each provider. */
import { sql } from 'kysely'
import type { PlatformOrder, Product } from '#operations/store/index'
import { requireStoreId } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { listMessages } from './messages.ts'

const shown = 30

/** Reads the data of the store with this id or slug, by default of the first store. */
export async function readWorld(ctx: SystemContext, idOrSlug: string | null) {
  const stores = await ctx.root
    .selectFrom('stores')
    .select(['id', 'slug', 'name'])
    .orderBy('id')
    .limit(200)
    .execute()
  const storeId = idOrSlug ? await requireStoreId(ctx, idOrSlug) : stores[0]?.id
  const facts = {
    clock: { now: ctx.now().toISOString(), offsetSeconds: Math.round(ctx.clock.offset / 1000) },
    stores: stores.map(({ slug, name }) => ({ slug, name })),
  }
  if (!storeId) return { ...facts, ...nothing }
  const [messages, mail, code, setups, templates, shop, checkouts, modes] = await Promise.all([
    listMessages(ctx, storeId),
    listMail(ctx, storeId),
    findQrCode(ctx, storeId),
    listSetups(ctx, storeId),
    listTemplates(ctx, storeId),
    readShop(ctx, storeId),
    listCheckouts(ctx, storeId),
    readModes(ctx, storeId),
  ])
  return { ...facts, messages, mail, code, setups, templates, ...shop, checkouts, modes }
}

const up = { messaging: 'up', ecommerce: 'up', billing: 'up' }
const nothing = {
  messages: [],
  mail: [],
  code: null,
  setups: [],
  templates: [],
  variants: [],
  orders: [],
  checkouts: [],
  modes: up,
}

async function listMail(ctx: SystemContext, storeId: string) {
  const mail = await listSandboxMail(ctx.root as never, { storeId, limit: shown })
  return mail.map(({ id, to, subject, text, sentAt }) => ({
    id,
    to,
    subject,
    text,
    links: text.match(/https?:\/\/[^\s<>"]+/g) ?? [],
    sentAt: new Date(sentAt).toISOString(),
  }))
}

async function findQrCode(ctx: SystemContext, storeId: string) {
  const now = ctx.now()
  const code = await ctx.root
    .selectFrom('sandbox_qr_codes')
    .select(['payload', 'lives_until'])
    .where('store_id', '=', storeId)
    .where('lives_from', '<=', now)
    .where('lives_until', '>', now)
    .orderBy('sequence', 'desc')
    .executeTakeFirst()
  return code ? { payload: code.payload, expiresAt: code.lives_until.toISOString() } : null
}

async function listSetups(ctx: SystemContext, storeId: string) {
  const setups = await ctx.root
    .selectFrom('sandbox_setups')
    .select(['token', 'ends_at'])
    .where('store_id', '=', storeId)
    .where('outcome', 'is', null)
    .where('ends_at', '>', ctx.now())
    .execute()
  return setups.map(({ token, ends_at }) => ({
    url: `${ctx.settings.publicUrl}/sandbox/messaging/setup/${token}`,
    endsAt: ends_at.toISOString(),
  }))
}

const listTemplates = (ctx: SystemContext, storeId: string) =>
  ctx.root
    .selectFrom('message_templates')
    .select(['id', 'name', 'language', 'status'])
    .where('store_id', '=', storeId)
    .orderBy('id', 'desc')
    .limit(shown)
    .execute()

async function readShop(ctx: SystemContext, storeId: string) {
  const ofKind = (kind: string) =>
    ctx.root
      .selectFrom('sandbox_objects')
      .select('data')
      .where('store_id', '=', storeId)
      .where('kind', '=', kind)
  const [products, orders] = await Promise.all([
    ofKind('product').orderBy('position').limit(100).execute(),
    ofKind('order').orderBy('position', 'desc').limit(10).execute(),
  ])
  return {
    variants: products.flatMap(({ data }) => {
      const { name, variants } = data as Product
      return variants.map((variant) => ({
        id: variant.id,
        name: variants.length > 1 ? `${name}, ${variant.name}` : name,
        price: variant.price,
        stock: variant.stock,
      }))
    }),
    orders: orders.map(({ data }) => {
      const { id, number, total, currency, customer, paymentStatus, fulfillmentStatus, status } =
        data as PlatformOrder
      return {
        id,
        number,
        total,
        currency,
        customer: customer.name ?? '',
        paymentStatus,
        fulfillmentStatus,
        status,
      }
    }),
  }
}

async function listCheckouts(ctx: SystemContext, storeId: string) {
  const rows = await ctx.root
    .selectFrom('sandbox_checkouts')
    .select(['id', 'title', sql<string>`first_amount::text`.as('amount'), 'currency', 'expires_at'])
    .where('store_id', '=', storeId)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', ctx.now())
    .orderBy('created_at', 'desc')
    .limit(shown)
    .execute()
  return rows.map(({ id, expires_at, ...row }) => ({
    ...row,
    url: `${ctx.settings.publicUrl}/sandbox/checkout/${id}`,
    expiresAt: expires_at.toISOString(),
  }))
}

async function readModes(ctx: SystemContext, storeId: string) {
  const rows = await ctx.root
    .selectFrom('sandbox_modes')
    .select(['port', 'mode'])
    .where('store_id', '=', storeId)
    .execute()
  return { ...up, ...Object.fromEntries(rows.map(({ port, mode }) => [port, mode])) }
}
