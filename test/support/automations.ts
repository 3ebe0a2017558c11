/** Stores whose automations can send: a shop on the sandbox's platform, a number, carts, the clock. */

import type { Row } from '#db/tables'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import type { ConnectionType } from '#operations/messaging/provider/port'
import { getSandbox, type SandboxMessage } from '#operations/messaging/provider/sandbox'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { type ConnectedShop, connectedStore } from './platform.ts'
import type { store } from './store.ts'

export interface AutomationShop extends ConnectedShop {
  /** Creates an active automation over HTTP and returns it. */
  automation(body: Record<string, unknown>): Promise<Automation>
  /** A shopper's cart: stored at the platform, its webhook delivered, the jobs run. */
  cart(body?: Record<string, unknown>): Promise<{ id: string }>
  /** The executions of an automation, oldest first. */
  executions(automationId: string): Promise<Row<'automation_executions'>[]>
  /** Messages accepted by the sandbox, oldest first. */
  outbox(): Promise<SandboxMessage[]>
  sandbox(path: string, body: unknown): Promise<Response>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
export type Automation = any

export const ana = { name: 'Ana Souza', email: 'ana@example.com', phone: '+5511988887777' }

export async function automationShop(
  app: TestApp,
  options: Parameters<typeof store>[1] & { connection?: ConnectionType | null; phone?: string } = {},
): Promise<AutomationShop> {
  const { connection = 'qr', phone = '+5511400010001', ...others } = options
  // A later test may have run scheduled jobs at a time after this one's clock.
  await app.database.root.deleteFrom('job_schedules').execute()
  app.worker.clockMoved()
  const shop = await connectedStore(app, others)
  const ctx = await shop.context()
  if (connection) await connectNumber(ctx, { type: connection, phone })
  const sandbox: AutomationShop['sandbox'] = async (path, body) =>
    app.fetch(
      new Request(`http://localhost/sandbox/api${path}`, { method: 'POST', body: JSON.stringify(body) }),
      { ip: '127.0.0.1' },
    )
  return {
    ...shop,
    sandbox,
    async automation(body) {
      const answer = await shop.call(createAutomation, { body: { isActive: true, ...body } })
      if (answer.status !== 201) throw new Error(`no automation: ${JSON.stringify(answer.body)}`)
      return answer.body
    },
    async cart(body = {}) {
      const answer = await sandbox(`/ecommerce/${shop.id}/carts`, {
        customer: ana,
        items: [{ variantId: '2003', quantity: 1 }],
        ...body,
      })
      if (answer.status !== 201) throw new Error(`no cart: ${await answer.text()}`)
      await app.drainJobs()
      return (await answer.json()) as { id: string }
    },
    executions: (automationId) =>
      ctx.db
        .selectFrom('automation_executions')
        .selectAll()
        .where('automation_id', '=', automationId)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    async outbox() {
      const messages = await getSandbox(app.services.adapters.messaging).outbox(shop.id)
      return [...messages].reverse()
    },
  }
}

/** The usual flow (automations, rule 3): a day's wait, a check, a coupon, a message with it. */
export const exampleFlow = {
  start: 'w1',
  steps: [
    { id: 'w1', type: 'wait', minutes: 1440, next: 'pc' },
    { id: 'pc', type: 'purchase-check', ifPurchased: null, ifNot: 'c1' },
    { id: 'c1', type: 'coupon', coupon: { type: 'percentage', value: 10 }, next: 'm2' },
    { id: 'm2', type: 'message', message: { text: 'Use {{couponCode}}' }, next: null },
  ],
}
export const never = { isEnabled: false }

/** Outcome of each execution, oldest first: its reason, `sent`, or its status. */
export const readOutcomes = async (shop: AutomationShop, automationId: string): Promise<string[]> =>
  (await shop.executions(automationId)).map(
    (row) =>
      row.skip_reason ??
      row.failure_code ??
      (row.status === 'pending' ? row.hold_reason : null) ??
      // A delivered message counts as sent.
      (row.sent_at ? 'sent' : row.status),
  )
