/** Creates numbers and templates without calling a provider, for the demo and the tests. */
import type { NewRow } from '#db/tables'
import { setNumberLimit, tierLimits } from '#operations/messaging/numbers/limit'
import { selectConnection } from '#operations/messaging/numbers/select'
import type { ConnectionType } from '#operations/messaging/provider/port'
import { getSandbox, sandboxNumberId } from '#operations/messaging/provider/sandbox'
import type { TemplateContent } from '#operations/messaging/provider/template-port'
import type { Template } from '#operations/messaging/templates/read'
import { toColumns } from '#operations/messaging/templates/rows'
import type { Context } from '#runtime/context'
import { seal } from '#runtime/secrets'
import { phoneKey } from '#runtime/values/phone'

/** Connects a number of the sandbox, here and at its provider, and selects it. `phone`: E.164. */
export async function connectNumber(
  ctx: Context,
  number: { type: ConnectionType; phone: string; displayName?: string; connectedAt?: Date },
): Promise<void> {
  const { type, phone, displayName = ctx.store.name, connectedAt = ctx.now() } = number
  await ctx.transaction(async (tx) => {
    const change = {
      status: 'connected',
      number_id: sandboxNumberId(tx.store.id, type),
      phone,
      phone_key: type === 'shared' ? null : phoneKey(phone),
      display_name: displayName,
      issue_code: null,
      connected_at: connectedAt,
      checked_at: tx.now(),
      updated_at: tx.now(),
      ...(type === 'official' ? await officialColumns(tx, phone, displayName) : {}),
      ...(type === 'qr' ? await qrColumns(tx, phone, connectedAt) : {}),
    }
    await tx.db
      .insertInto('messaging_connections')
      .values({ type, provider: 'sandbox', created_at: connectedAt, ...change })
      .onConflict((conflict) => conflict.columns(['store_id', 'type']).doUpdateSet(change))
      .execute()
    await selectConnection(tx, type)
  })
}

async function officialColumns(tx: Context, phone: string, displayName: string) {
  const { numbers } = getSandbox(tx.adapters.messaging).within(tx.system)
  const token = await numbers.put(tx.store.id, { phone, displayName })
  const credentials = { token }
  const health = await numbers.phoneHealth({ id: tx.store.id, credentials })
  const limit = tierLimits[health.messagingLimitTier] ?? null
  await setNumberLimit(tx, sandboxNumberId(tx.store.id, 'official'), limit)
  return {
    credentials: seal(tx.settings, tx.store.id, credentials),
    account_id: `sandbox-account-${tx.store.id}`,
    display_name_status: 'approved',
    health: JSON.stringify(health),
    health_at: tx.now(),
  }
}

async function qrColumns(tx: Context, phone: string, connectedAt: Date) {
  const sessionRef = `sandbox-session-${tx.store.id}`
  await getSandbox(tx.adapters.messaging).within(tx.system).qr.put(tx.store.id, sessionRef, phone)
  return { session_ref: sessionRef, session_started_at: connectedAt }
}

export interface NewTemplate extends Partial<Pick<Template, 'header' | 'footer' | 'buttons' | 'status'>> {
  name: string
  body: string
  /** Default `pt_BR`. */
  language?: string
  /** Default `marketing`. */
  category?: string
  examples?: { header: string[]; body: string[]; buttons: string[] }
  submittedAt?: Date
}

/** Creates a template here and at the sandbox's provider, approved unless another status is given; returns its id. */
export async function makeTemplate(ctx: Context, template: NewTemplate): Promise<number> {
  const { name, language = 'pt_BR', status = 'approved', submittedAt = ctx.now() } = template
  const content: TemplateContent = {
    name,
    language,
    category: template.category ?? 'marketing',
    header: template.header ?? null,
    body: template.body,
    footer: template.footer ?? null,
    buttons: template.buttons ?? [],
    examples: template.examples ?? { header: [], body: [], buttons: [] },
  }
  const providerId = `sandbox-${ctx.store.id}-${name}-${language}`
  await ctx.system
    .insertInto('sandbox_templates')
    .values({
      store_id: ctx.store.id,
      provider_id: providerId,
      name,
      language,
      content: JSON.stringify(content),
      status,
    })
    .onConflict((conflict) => conflict.column('provider_id').doNothing())
    .execute()
  const row: Omit<NewRow<'message_templates'>, 'store_id'> = {
    provider_id: providerId,
    name,
    language,
    ...toColumns(content),
    status,
    was_approved: status !== 'pending' && status !== 'rejected',
    submitted_at: submittedAt,
    reviewed_at: status === 'pending' ? null : submittedAt,
    status_at: submittedAt,
    created_at: submittedAt,
    updated_at: submittedAt,
  }
  const { id } = await ctx.db
    .insertInto('message_templates')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
