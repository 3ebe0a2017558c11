/** The merchant and the payer of a subscription: checkouts, cards, the sandbox's provider and its clock. */

import { expect } from 'vitest'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import { getSandboxBilling } from '#operations/subscription/provider/sandbox'
import listPayments from '#operations/subscription/reads/api/list-payments'
import type { Operation } from '#runtime/operation'
import type { TestApp } from './app.ts'
import { type Answer, type Shop, store } from './store.ts'

export const cards = {
  good: '4242424242424242',
  declined: '4000000000000002',
  declinesLater: '4000000000000341',
  chargedBack: '4000000000000259',
} as const
export type CardName = keyof typeof cards

export interface Billed {
  shop: Shop
  post(operation: Operation, body?: unknown): Promise<Answer>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  read(operation: Operation): Promise<any>
  /** Opens a checkout page's address. */
  open(url: string): Promise<number>
  /** Sends the form of a checkout page; returns its status. */
  pay(url: string, card?: CardName): Promise<number>
  /** A checkout for a plan, paid with a card. */
  subscribe(body: Record<string, unknown>, card?: CardName): Promise<void>
  mode(mode: 'up' | 'down' | 'timeout'): Promise<void>
  payerActs(status: 'paused' | 'cancelled'): Promise<void>
  notices(): Promise<string[]>
  payments(): Promise<{ status: string; amount: number; kind: string }[]>
}

/** A store in its trial, unless a plan is given. */
export async function billed(
  app: TestApp,
  options: Parameters<typeof store>[1] = { plan: null },
): Promise<Billed> {
  const shop = await store(app, options)
  const page = (method: string, url: string, body?: URLSearchParams): Promise<Response> =>
    Promise.resolve(app.fetch(new Request(url, { method, ...(body ? { body } : {}) }), { ip: '127.0.0.1' }))
  const self: Billed = {
    shop,
    post: (operation, body = {}) => shop.call(operation, { body }),
    async read(operation) {
      const { status, body } = await shop.call(operation)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    },
    open: async (url) => (await page('GET', url)).status,
    async pay(url, card = 'good') {
      const form = { cardNumber: cards[card], holder: 'Olivia', expMonth: '12', expYear: '2039' }
      const answer = await page('POST', url, new URLSearchParams(form))
      return answer.status
    },
    async subscribe(body, card = 'good') {
      const created = await self.post(createPreapproval, body)
      expect(created.status, JSON.stringify(created.body)).toBe(201)
      expect(await self.pay(created.body.checkoutUrl, card)).toBe(303)
      await app.drainJobs()
    },
    mode: (mode) => getSandboxBilling(app.services.adapters.billing).setMode(shop.id, mode),
    async payerActs(status) {
      const acted = await app.fetch(
        new Request(`http://localhost/sandbox/api/billing/${shop.id}/agreement`, {
          method: 'POST',
          body: JSON.stringify({ status }),
        }),
        { ip: '127.0.0.1' },
      )
      expect(acted.status).toBe(200)
    },
    async notices() {
      const rows = await (await shop.context()).db
        .selectFrom('notifications')
        .select('type')
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map((row) => row.type)
    },
    async payments() {
      return (await self.read(listPayments)).data
    },
  }
  return self
}

/** Sets the clock, schedules included: each test starts at its own instant. */
export async function startAt(app: TestApp, at: string): Promise<void> {
  await app.database.query('delete from job_schedules', [])
  await app.setClock(at)
}

/** A merchant whose first payment was made at that instant: thirty days to 1 December. */
export async function payer(
  app: TestApp,
  body: Record<string, unknown> = { planId: 'growth' },
  card: CardName = 'good',
  at = '2026-11-01T00:00:00.000Z',
): Promise<Billed> {
  await startAt(app, at)
  const me = await billed(app)
  await me.subscribe(body, card)
  return me
}

/** Sets the clock and runs the jobs due by then. */
export async function moveTo(app: TestApp, at: string): Promise<void> {
  await app.setClock(at)
  await app.drainJobs()
}
