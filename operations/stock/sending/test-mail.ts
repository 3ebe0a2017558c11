/** Sends a test email of the stock alerts, with a sample name and the first product of the catalog. */
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { formatMoney } from '#runtime/values/localized'
import { readAlerts } from '../settings/settings.ts'
import { buildLink, renderMail } from './render.ts'

/**
 * Sends the test email at once and stores nothing. `email` is by default the address of the user who created the API key.
 * Refuses an address that the mail server rejects (400). Throws if the mail server does not respond.
 */
export async function sendTestMail(
  ctx: Context,
  email: string | undefined,
): Promise<{ sentTo: string; subject: string }> {
  const sentTo = email ?? (await readOwnAddress(ctx))
  const product = await findSampleProduct(ctx)
  const variantName = product && product.variant !== product.name ? product.variant : null
  const values = {
    name: 'Ana',
    productName: product?.name ?? 'Sample product',
    variantName,
    price: product ? formatMoney(Number(product.price), product.currency, ctx.store.locale) : null,
    stock: product?.stock?.toString() ?? null,
    storeName: ctx.store.name,
    productUrl: buildLink(
      product?.url ?? `https://${ctx.store.domain}`,
      'test',
      variantName && product!.variantId,
    ),
  }
  const mail = renderMail(await readAlerts(ctx), values, null, ctx.store.locale)
  const subject = `[Test] ${mail.subject}`
  try {
    await files.sendMail(ctx, { to: sentTo, ...mail, subject, idempotencyKey: ctx.sendKey('st_test_') })
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', `email: ${error.message}`)
    throw error
  }
  return { sentTo, subject }
}

async function readOwnAddress(ctx: Context): Promise<string> {
  const person = await ctx.db
    .selectFrom('store_people')
    .select('email')
    .where('user_id', '=', ctx.actor.userId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return person.email
}

const findSampleProduct = (ctx: Context) =>
  ctx.db
    .selectFrom('product_snapshots as p')
    .innerJoin('product_snapshot_variants as v', 'v.product_id', 'p.product_id')
    .select([
      'p.name',
      'p.url',
      'p.currency',
      'v.variant_id as variantId',
      'v.name as variant',
      'v.price',
      'v.stock',
    ])
    .where('p.exists', '=', sql.lit(true))
    .where('p.is_published', '=', sql.lit(true))
    .orderBy('p.name')
    .orderBy('p.product_id')
    .orderBy('v.position')
    .limit(1)
    .executeTakeFirst()
