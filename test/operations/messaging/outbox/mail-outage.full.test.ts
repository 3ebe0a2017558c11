/** The mail provider rejects our login: no address is at fault, and delivery continues once the login works again. */
import { SMTPServer } from 'smtp-server'
import { afterAll, describe, expect, test } from 'vitest'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { reviewShop } from '#test/operations/reviews/shop'
import { postmarkStandIn } from '#test/ports/postmark-stand-in'
import { type TestApp, testApp } from '#test/support/app'
import { stockShop } from '#test/support/stock'

const sender = 'Shop <shop@example.com>'
const token = 'a-server-token'
const people = 24

interface Server {
  url: string
  /** Whether it accepts our login. */
  takes: boolean
  /** Attempted logins and sends. */
  tries: number
  arrived: string[]
  close(): Promise<unknown>
}

async function postmark(): Promise<Server> {
  const standIn = await postmarkStandIn(token, 'shop@example.com')
  const refused = { status: 401, ErrorCode: 10, Message: 'Bad or missing Server token.' } as const
  const shift = standIn.faults.shift.bind(standIn.faults)
  const server: Server = {
    url: `postmark://${token}@${new URL(standIn.endpoint).host}?tls=off`,
    takes: true,
    get tries() {
      return standIn.requests.length
    },
    get arrived() {
      return standIn.received.map(({ to }) => to)
    },
    close: () => standIn.close(),
  }
  standIn.faults.shift = () => (server.takes ? shift() : refused)
  return server
}

async function smtp(): Promise<Server> {
  const listener = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth(_auth, _session, answer) {
      server.tries += 1
      if (server.takes) return answer(null, { user: 'shop' })
      return answer(Object.assign(new Error('5.7.8 Authentication failed'), { responseCode: 535 }))
    },
    // A connection that was authenticated before.
    onMailFrom(_address, _session, done) {
      if (server.takes) return done()
      server.tries += 1
      return done(Object.assign(new Error('5.7.0 Authentication required'), { responseCode: 530 }))
    },
    onData(stream, session, done) {
      server.arrived.push(...session.envelope.rcptTo.map(({ address }) => address))
      stream.resume()
      stream.on('end', () => done())
    },
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.server.address() as { port: number }
  const server: Server = {
    url: `smtp://shop:secret@127.0.0.1:${port}?requireTLS=false`,
    takes: true,
    tries: 0,
    arrived: [],
    close: () => new Promise<void>((resolve) => listener.close(() => resolve())),
  }
  return server
}

describe.each([
  ['postmark', postmark],
  ['smtp', smtp],
] as const)('%s', async (_name, open) => {
  const server = await open()
  const app: TestApp = await testApp({ mailUrl: server.url, mailFrom: sender, storefrontAcceptedIp: 1000 })
  afterAll(() => server.close())
  const later = async (...minutes: number[]): Promise<void> => {
    for (const each of minutes) {
      await app.advance(each * 60_000)
      await app.drainJobs()
    }
  }
  const arrived = (whose: string) => server.arrived.filter((to) => to.startsWith(whose)).sort()
  const health = async () =>
    (
      await app.database.query<{ state: string }>("select state from provider_health where port = 'mail'", [])
    )[0]?.state

  test('a batch stops at the first errors, nothing is tried meanwhile, and everybody gets one email', async () => {
    const shop = await stockShop(app, { connection: null })
    const emails = Array.from({ length: people }, (_, i) => `waits-${i}@example.com`)
    for (const email of emails) expect((await shop.ask({ email })).status).toBeLessThan(300)
    server.takes = false
    const before = server.tries
    await shop.restock(100)
    expect(await health()).toBe('lost')
    // Only the calls that were running in parallel.
    expect(server.tries - before).toBeLessThanOrEqual(17)
    const waiting = await shop.all()
    expect(waiting.filter(({ status }) => status === 'failed')).toEqual([])
    const hour = server.tries
    await later(1, 5, 15, 30, 60)
    // Only the health probes.
    expect(server.tries - hour).toBeLessThanOrEqual(12)
    server.takes = true
    await later(61, 1)
    expect(await health()).toBe('connected')
    expect((await shop.all()).map(({ status }) => status)).toEqual(emails.map(() => 'sent'))
    expect(arrived('waits-')).toEqual([...emails].sort())
  })

  test('single messages wait for the login, without counting tries', async () => {
    server.takes = true
    const shop = await reviewShop(app)
    await shop.settings({ request: { isEnabled: true, channel: 'email', delayDays: 1 } })
    const buyers = Array.from({ length: 6 }, (_, i) => `buys-${i}@example.com`)
    for (const email of buyers) {
      const order = await shop.place({
        customer: { name: 'Ana', email, phone: null },
        items: [{ variantId: '2001', quantity: 1 }],
      })
      await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    }
    await app.drainJobs()
    server.takes = false
    const before = server.tries
    await shop.call(sendDispatchesNow, { body: { all: true } })
    await app.drainJobs()
    await later(1, 5, 15, 30, 60)
    expect(server.tries - before).toBeLessThanOrEqual(12)
    const ctx = await shop.context()
    const rows = () => ctx.db.selectFrom('review_messages').select(['state', 'calls', 'failure']).execute()
    for (const row of await rows()) expect(row).toEqual({ state: 'sending', calls: 0, failure: null })
    server.takes = true
    await later(61, 1)
    expect((await rows()).map(({ state }) => state)).toEqual(buyers.map(() => 'sent'))
    expect(arrived('buys-')).toEqual([...buyers].sort())
  })
})
