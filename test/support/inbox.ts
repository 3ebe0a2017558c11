/** Stores with an inbox, and people who write to them. */
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import enable from '#operations/inbox/switch/api/enable'
import { receiveHook } from '#operations/messaging/callbacks/receive'
import { buildHook, toTimestamp } from '#operations/messaging/provider/hook-body'
import { getSandbox, type SandboxInbound, sandboxNumberId } from '#operations/messaging/provider/sandbox'
import { SystemContext } from '#runtime/context'
import { deriveKey } from '#runtime/secrets'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { type Shop, store } from './store.ts'

export interface InboxShop extends Shop {
  /** A customer writes to the official number; jobs are drained. */
  write(message: Omit<SandboxInbound, 'numberId'>): Promise<void>
  /** The callback of a message; jobs are not drained. */
  callback(message: Omit<SandboxInbound, 'numberId'>): Promise<void>
  /** A status callback of the provider. */
  status(
    providerMessageId: string,
    status: 'sent' | 'delivered' | 'read' | 'failed',
    code?: string,
  ): Promise<void>
  /** A status callback of a message that was not sent here: it has none of our keys. */
  statusOfForeign(providerMessageId: string, status: 'sent' | 'delivered' | 'read' | 'failed'): Promise<void>
  /** The one conversation with a phone, or the only one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  conversation(phone?: string): Promise<any>
  usage(): Promise<{ used: number; reserved: number }>
}

export async function connectOfficial(shop: Shop): Promise<void> {
  await connectNumber(await shop.context(), {
    type: 'official',
    // Its last digit selects the sandbox's behaviour: 0 is success.
    phone: `+55113${shop.slug.replace(/\D/g, '').slice(-6).padStart(6, '0')}0`,
  })
}

export async function inboxShop(
  app: TestApp,
  options: Parameters<typeof store>[1] & { isOn?: boolean } = {},
): Promise<InboxShop> {
  const { isOn = true, ...others } = options
  return withInbox(app, await store(app, others), isOn)
}

/** Adds an inbox to an existing store, such as one with a shop. */
export async function withInbox<S extends Shop>(app: TestApp, shop: S, isOn = true): Promise<S & InboxShop> {
  const ctx = await shop.context()
  const system = new SystemContext(app.services, app.services.log, 'test')
  const sandbox = getSandbox(app.services.adapters.messaging)
  if (isOn) {
    await connectOfficial(shop)
    const answer = await shop.call(enable, { body: {} })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    await app.drainJobs()
  }
  const callback: InboxShop['callback'] = async (message) => {
    const hook = sandbox.inbound({ ...message, numberId: sandboxNumberId(shop.id, 'official') })
    await receiveHook(system, 'sandbox', hook.headers, hook.body)
  }
  return {
    ...shop,
    callback,
    async write(message) {
      await callback(message)
      await app.drainJobs()
    },
    async status(providerMessageId, status, code) {
      const hook = await sandbox.status(shop.id, { providerMessageId, status, ...(code ? { code } : {}) })
      if (!hook) throw new Error('there is no such message at the provider')
      await receiveHook(system, 'sandbox', hook.headers, hook.body)
      await app.drainJobs()
    },
    async statusOfForeign(providerMessageId, status) {
      const numberId = sandboxNumberId(shop.id, 'official')
      const change = { id: providerMessageId, status, timestamp: toTimestamp(app.clock.now()) }
      const hook = buildHook(deriveKey(app.services.settings.secretKey, 'messaging-app').toString('hex'), [
        { numberId, account: 'sandbox', statuses: [change], messages: [], contacts: [] },
      ])
      await receiveHook(system, 'sandbox', hook.headers, hook.body)
      await app.drainJobs()
    },
    async conversation(phone) {
      const { body } = await shop.call(listConversations, { query: phone ? { search: phone } : {} })
      if (body.total !== 1) throw new Error(`${body.total} conversations`)
      return body.data[0]
    },
    async usage() {
      const rows = await ctx.db.selectFrom('usage_cycles').select(['used', 'reserved']).execute()
      return {
        used: rows.reduce((sum, row) => sum + row.used, 0),
        reserved: rows.reduce((sum, row) => sum + row.reserved, 0),
      }
    },
  }
}
