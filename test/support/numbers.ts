/** Stores that connect numbers, and the external side: scans, setup pages and callbacks. */

import confirmRedirect from '#operations/messaging/official/api/confirm-redirect'
import startSetup from '#operations/messaging/official/api/start-setup'
import startSession from '#operations/messaging/qr/api/start-session'
import type { TestApp } from './app.ts'
import { type Answer, type Shop, store } from './store.ts'

export interface NumberShop extends Shop {
  /** The result of a setup page. */
  finish(
    setupUrl: string,
    phone: string,
    outcome?: string,
  ): Promise<{ state: string; code: string; error: string }>
  /** Setup, page and confirmation in one; returns the official connection. */
  connectOfficial(phone?: string, outcome?: string): Promise<Answer>
  /** Starts a session, scans its code, and delivers the provider's callbacks. */
  linkPhone(phone: string, name?: string): Promise<void>
  /** Posts to the sandbox below the store. */
  sandbox(path: string, body: object): Promise<number>
  notices(type?: string): Promise<{ type: string; title: string; message: string | null }[]>
}

let phones = 0
/** A landline that nobody has connected yet; its last digit selects the sandbox's behaviour for an official number. */
export const newPhone = (last = '0'): string => {
  phones += 1
  return `+5511400${1_000 + phones}${last}`
}

/** Posts JSON to a path of the server; returns status and body. */
export async function post(app: TestApp, path: string, body: object) {
  const response = await app.fetch(
    new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) }),
    { ip: '127.0.0.1' },
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
}

export const getPath = (url: string): string => new URL(url).pathname

/** Scans by the page behind the code; returns its status. */
export const scan = async (app: TestApp, scanUrl: string, phone: string, name?: string): Promise<number> =>
  (await post(app, getPath(scanUrl), { phone, ...(name ? { name } : {}) })).status

export async function numberShop(
  app: TestApp,
  options: Parameters<typeof store>[1] = {},
): Promise<NumberShop> {
  const shop = await store(app, options)
  const finish: NumberShop['finish'] = async (setupUrl, phone, outcome = 'approve') =>
    (await post(app, '/sandbox/api/messaging/setup', { setupUrl, phone, displayName: 'Loja', outcome })).body
  return {
    ...shop,
    finish,
    async connectOfficial(phone = '+551140001000', outcome = 'approve') {
      const opened = await shop.call(startSetup)
      if (opened.status !== 200) throw new Error(`no setup: ${JSON.stringify(opened.body)}`)
      const { state, code } = await finish(opened.body.setupUrl, phone, outcome)
      return shop.call(confirmRedirect, { body: { state, code } })
    },
    async linkPhone(phone, name) {
      const { body } = await shop.call(startSession)
      const status = await scan(app, body.qr.code.scanUrl, phone, name)
      if (status !== 200) throw new Error(`not scanned: ${status}`)
      await app.drainJobs()
    },
    sandbox: async (path, body) =>
      (await post(app, `/sandbox/api/messaging/${shop.id}/${path}`, body)).status,
    async notices(type) {
      const rows = await app.database.root
        .selectFrom('notifications')
        .select(['type', 'title', 'message'])
        .where('store_id', '=', shop.id)
        .orderBy('id')
        .execute()
      return type ? rows.filter((row) => row.type === type) : rows
    },
  }
}

/** Delivers a callback of the provider; returns its status. */
export async function deliverHook(
  app: TestApp,
  { headers, body }: { headers: Headers; body: Uint8Array },
): Promise<number> {
  const address = 'http://localhost/hooks/messaging/sandbox'
  const request = new Request(address, { method: 'POST', headers, body: Buffer.from(body) })
  return (await app.fetch(request, { ip: '127.0.0.1' })).status
}

/** Messages of the store's cycle. */
export async function readUsage({ id, app }: Shop): Promise<{ used: number; reserved: number }> {
  const cycle = await app.database.root
    .selectFrom('usage_cycles')
    .select(['used', 'reserved'])
    .where('store_id', '=', id)
    .executeTakeFirst()
  return cycle ?? { used: 0, reserved: 0 }
}
export const setQuota = ({ id, app }: Shop, limit: number): Promise<unknown> =>
  app.database.root
    .updateTable('usage_cycles')
    .set({ message_limit: limit })
    .where('store_id', '=', id)
    .execute()
