/**
 * The part of Mercado Pago's REST API that the adapter uses, in memory, behind real HTTP: subscriptions, invoices,
 * payments, refunds and notifications. `mercado-pago-facts.md` lists what it accepts and refuses. Signatures are
 * computed here independently, so that both implementations check each other.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MovableClock } from '#runtime/clock'
import type { Card } from './billing.contract.ts'

type Json = Record<string, unknown>

/** Injected instead of an answer: a status for every request, or no answer at all. */
type Fault = { status: number; headers?: Record<string, string>; body?: string } | 'silence' | 'drop' | null

interface Subscription extends Json {
  id: string
  status: string
  version: number
  auto_recurring: { frequency: number; transaction_amount: number; currency_id: string; start_date?: string }
}
interface Invoice extends Json {
  id: number
  preapproval_id: string
  debit_date: string
  retry_attempt: number
  status: string
  payment: { id: number; status: string; status_detail: string }
}
interface Payment extends Json {
  id: number
  status: string
}

interface SignedNotification {
  headers: Headers
  body: Uint8Array
}

export interface BillingStandIn {
  endpoint: string
  /** One entry per request, such as `GET /preapproval/…`. */
  requests: string[]
  /** Bodies of POST and PUT as sent. */
  bodies: Json[]
  /** The idempotency keys as sent, null if missing. */
  keys: (string | null)[]
  fail(fault: Fault): void
  /** Faults of the next requests, one each; null answers normally. */
  failOnce(...faults: Fault[]): void
  /** Refuses refunds, as if the account lacked the money. */
  refuseRefunds(isRefused: boolean): void
  /** Processes requests, but never answers. */
  loseAnswers(isLost: boolean): void
  /** Called after a request is processed and before it is answered. */
  onDone(listener: ((method: string) => void) | null): void
  pay(id: string, card: Card): void
  /** Makes the next charge or retry. */
  charge(id: string): void
  chargeBack(paymentId: string): void
  /** Decides a chargeback: `reimbursed` if the seller wins, else `settled`. `topic`: the notification that tells. */
  decideDispute(
    paymentId: string,
    result: 'reimbursed' | 'settled',
    topic?: 'payment' | 'topic_chargebacks_wh',
  ): void
  /** A partial refund on the provider's own pages, weeks later; the invoice does not change. */
  refundPart(paymentId: string, amount: number): void
  setStatus(id: string, status: string): void
  /** Adds the slip of a payment by boleto or transfer. */
  paperOf(paymentId: string, address: string): void
  /** The token's account; objects of other accounts are forbidden. */
  seller: { email: string; site_id: string; tags: string[] }
  others: Set<string>
  /** The signed notifications since the last call. */
  notifications(): SignedNotification[]
  sign(body: Json, options?: { secret?: string; ts?: string; requestId?: string }): SignedNotification
  close(): Promise<void>
}

/** Notifications of payments and of subscriptions have different fields. */
const paymentNotification = { api_version: 'v1', live_mode: true, user_id: '123456789' }
const ofSubscriptions = { application_id: '4448020804408138', version: 8 }
const entities: Record<string, string> = {
  subscription_preapproval: 'preapproval',
  subscription_authorized_payment: 'authorized_payment',
}

/** The token's account. */
const collector = {
  id: 123456789,
  nickname: 'SELLER',
  email: 'seller@example.com',
  site_id: 'MLB',
  tags: ['normal'],
}

const digits: Record<Card, string> = {
  good: '4242',
  declined: '0002',
  'declines-later': '0341',
  'charged-back': '0259',
}

const errors: Record<number, string> = { 400: 'bad_request', 403: 'forbidden' }

class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export async function billingStandIn(
  account: { accessToken: string; webhookSecret: string },
  clock: MovableClock,
): Promise<BillingStandIn> {
  const subscriptions = new Map<string, Subscription>()
  const invoices: Invoice[] = []
  const payments = new Map<number, Payment>()
  const cards = new Map<string, Card>()
  const answered = new Map<string, { status: number; body: unknown }>()
  const pending: Json[] = []
  const others = new Set<string>()
  /** Payments by the id of their chargeback. */
  const disputes = new Map<string, number>()
  const requests: string[] = []
  const bodies: Json[] = []
  const keys: (string | null)[] = []
  let fault: Fault = null
  const faults: Fault[] = []
  let isLost = false
  let hasNoFunds = false
  let onDone: ((method: string) => void) | null = null
  let last = 6_114_264_375
  const seller = { ...collector, tags: [...collector.tags] }

  // Times carry an offset.
  const instant = (at = clock.now()): string =>
    new Date(at.getTime() - 4 * 3_600_000).toISOString().replace('Z', '-04:00')
  const notify = (type: string, id: string | number, action: string): void => {
    const date = instant()
    pending.push(
      type === 'payment'
        ? {
            action,
            type,
            date_created: date,
            data: { id: String(id) },
            ...paymentNotification,
            id: pending.length + 1,
          }
        : {
            action,
            type,
            date,
            data: { id: String(id) },
            ...ofSubscriptions,
            entity: entities[type],
            id: String(id),
          },
    )
  }
  const changed = (subscription: Subscription): void => {
    subscription.version += 1
    subscription.last_modified = instant()
    notify('subscription_preapproval', subscription.id, 'updated')
  }
  const subscriptionOf = (id: string): Subscription => {
    const found = subscriptions.get(id)
    if (!found) throw new ApiError(404, `The preapproval with id ${id} does not exist`)
    return found
  }

  function pays(subscription: Subscription, isApproved: boolean, invoice?: Invoice): void {
    last += 1
    const card = cards.get(subscription.id)!
    const payment: Payment = {
      id: last,
      status: isApproved ? 'approved' : 'rejected',
      status_detail: isApproved ? 'accredited' : 'cc_rejected_insufficient_amount',
      transaction_amount: subscription.auto_recurring.transaction_amount,
      currency_id: subscription.auto_recurring.currency_id,
      payment_method_id: 'visa',
      date_created: instant(),
      date_approved: isApproved ? instant() : null,
      date_last_updated: instant(),
      transaction_details: { external_resource_url: null },
      card: {
        last_four_digits: digits[card],
        expiration_month: 12,
        expiration_year: 2031,
        first_six_digits: '1',
      },
    }
    payments.set(payment.id, payment)
    const shown = { id: payment.id, status: payment.status, status_detail: payment.status_detail as string }
    if (invoice) {
      invoice.retry_attempt += 1
      Object.assign(invoice, { payment: shown, last_modified: instant(), status: 'processed' })
    } else {
      last += 1
      invoices.push({
        id: last,
        type: 'scheduled',
        preapproval_id: subscription.id,
        date_created: instant(),
        last_modified: instant(),
        debit_date: instant(),
        retry_attempt: 0,
        status: isApproved ? 'processed' : 'recycling',
        transaction_amount: String(subscription.auto_recurring.transaction_amount),
        payment: shown,
      })
    }
    notify('subscription_authorized_payment', (invoice ?? invoices.at(-1)!).id, 'created')
    notify('payment', payment.id, 'payment.created')
  }

  function answer(method: string, url: URL, body: Json | null): { status: number; body: unknown } {
    const [, root, id, action] = url.pathname.split('/')
    if (url.pathname === '/users/me') return { status: 200, body: seller }
    if (id !== undefined && others.has(id))
      throw new ApiError(403, 'Caller is not authorized to perform this action')
    if (root === 'preapproval' && method === 'POST')
      return { status: 201, body: { ...create(body!), payer_email: '' } }
    if (root === 'preapproval' && id) {
      const found = subscriptionOf(id)
      if (method === 'PUT') update(found, body!)
      return { status: 200, body: { ...found, payer_email: '' } }
    }
    if (root === 'authorized_payments' && id === 'search') {
      const { searchParams: query } = url
      const offset = Number(query.get('offset') ?? 0)
      const found = invoices.filter(
        (each) =>
          (!query.has('preapproval_id') || each.preapproval_id === query.get('preapproval_id')) &&
          (!query.has('payment_id') || String(each.payment.id) === query.get('payment_id')),
      )
      // A small page size forces the adapter to paginate. Newest first.
      const results = found.reverse().slice(offset, offset + 2)
      return { status: 200, body: { paging: { offset, limit: 2, total: found.length }, results } }
    }
    if (root === 'authorized_payments') {
      const found = invoices.find((each) => String(each.id) === id)
      if (!found) throw new ApiError(404, 'not found')
      return { status: 200, body: found }
    }
    if (url.pathname.startsWith('/v1/chargebacks/')) {
      const disputed = disputes.get(url.pathname.split('/')[3]!)
      if (!disputed) throw new ApiError(404, 'Chargeback not found')
      return { status: 200, body: { id: action, payments: [disputed], coverage_applied: true } }
    }
    const [, , , paymentId, refunds] = url.pathname.split('/')
    const payment = url.pathname.startsWith('/v1/payments/') ? payments.get(Number(paymentId)) : undefined
    if (!payment) throw new ApiError(404, `No such object: ${action ?? url.pathname}`)
    if (refunds === 'refunds' && method === 'POST') {
      if (payment.status !== 'approved') throw new ApiError(400, 'Not valid action')
      if (hasNoFunds) throw new ApiError(400, 'Insufficient funds')
      Object.assign(payment, { status: 'refunded', date_last_updated: instant() })
      touchInvoice(payment)
      notify('payment', payment.id, 'payment.updated')
      return { status: 201, body: { id: 1, payment_id: payment.id, status: 'approved' } }
    }
    return { status: 200, body: payment }
  }

  function touchInvoice(payment: Payment): void {
    const invoice = invoices.find((each) => each.payment.id === payment.id)
    if (invoice) Object.assign(invoice, { last_modified: instant() })
  }

  function create(body: Json): Subscription {
    const recurring = body.auto_recurring as Subscription['auto_recurring'] | undefined
    if (typeof body.payer_email !== 'string' || !body.payer_email.includes('@')) {
      throw new ApiError(400, 'payer_email must be a valid email')
    }
    if (body.payer_email === seller.email) {
      throw new ApiError(400, 'Payer and collector cannot be the same user')
    }
    if (body.back_url !== undefined && !URL.canParse(String(body.back_url))) {
      throw new ApiError(400, 'Invalid value for back_url, must be a valid URL')
    }
    if (!recurring || !(recurring.transaction_amount > 0)) {
      throw new ApiError(400, 'Cannot pay an amount lower than $ 0.50')
    }
    const id = randomUUID().replaceAll('-', '')
    const made: Subscription = {
      ...body,
      id,
      version: 0,
      status: 'pending',
      date_created: instant(),
      last_modified: instant(),
      init_point: `https://www.mercadopago.com.br/subscriptions/checkout?preapproval_id=${id}&activation=true`,
      next_payment_date: recurring.start_date ?? instant(),
      auto_recurring: { ...recurring },
    }
    subscriptions.set(id, made)
    return made
  }

  function update(found: Subscription, body: Json): void {
    const { auto_recurring: recurring, status, reason } = body as Partial<Subscription>
    if (recurring && !recurring.currency_id) throw new ApiError(400, 'currency_id is required')
    if (found.status === 'cancelled') throw new ApiError(400, 'You can not modify a cancelled preapproval.')
    if (recurring) Object.assign(found.auto_recurring, recurring)
    if (reason) found.reason = reason
    if (status) found.status = status
    changed(found)
  }

  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '' } = request
      requests.push(`${method} ${url.split('?')[0]}`)
      const now = faults.length > 0 ? faults.shift()! : fault
      const text = await readBody(request)
      if (now === 'silence') return
      if (now === 'drop') return void response.destroy()
      if (now) return void response.writeHead(now.status, now.headers).end(now.body ?? '{}')
      const key = request.headers['x-idempotency-key']?.toString() ?? null
      const { status, body } = respond(method, url, request.headers.authorization, key, text)
      onDone?.(method)
      if (!isLost)
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })()
  })

  function respond(
    method: string,
    url: string,
    authorization: string | undefined,
    key: string | null,
    text: string,
  ): { status: number; body: unknown } {
    if (authorization !== `Bearer ${account.accessToken}`)
      return { status: 401, body: { message: 'invalid token' } }
    const body = text === '' ? null : (JSON.parse(text) as Json)
    if (method !== 'GET') {
      bodies.push(body!)
      keys.push(key)
    }
    const known = key === null ? undefined : answered.get(`${method} ${url} ${key}`)
    if (known) return known
    try {
      const given = answer(method, new URL(url, 'http://stand-in'), body)
      if (key !== null) answered.set(`${method} ${url} ${key}`, given)
      return given
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { status, message } = error
      const refused = { status, body: { status, error: errors[status] ?? 'not_found', message } }
      if (key !== null) answered.set(`${method} ${url} ${key}`, refused)
      return refused
    }
  }

  const sign: BillingStandIn['sign'] = (body, { secret = account.webhookSecret, ts, requestId } = {}) => {
    const stamp = ts ?? String(Math.floor(clock.ms() / 1000))
    const request = requestId ?? randomUUID()
    const id = (body.data as { id: string }).id.toLowerCase()
    const v1 = createHmac('sha256', secret)
      .update(`id:${id};request-id:${request};ts:${stamp};`)
      .digest('hex')
    return {
      headers: new Headers({
        'content-type': 'application/json',
        'x-request-id': request,
        'x-signature': `ts=${stamp},v1=${v1}`,
      }),
      body: Buffer.from(JSON.stringify(body)),
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    seller,
    others,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bodies,
    keys,
    sign,
    fail(next) {
      fault = next
    },
    failOnce: (...next) => void faults.push(...next),
    loseAnswers(next) {
      isLost = next
    },
    refuseRefunds(isRefused) {
      hasNoFunds = isRefused
    },
    onDone(listener) {
      onDone = listener
    },
    pay(id, card) {
      const subscription = subscriptionOf(id)
      cards.set(id, card)
      const isDeferred = subscription.auto_recurring.start_date !== undefined
      if (isDeferred && card === 'declined') return
      subscription.status = 'authorized'
      changed(subscription)
      if (!isDeferred) pays(subscription, card !== 'declined')
    },
    charge(id) {
      const subscription = subscriptionOf(id)
      const open = invoices.findLast(
        (each) => each.preapproval_id === id && each.payment.status === 'rejected',
      )
      clock.frozenAt = clock.ms() + (open ? 1 : 30) * 24 * 3_600_000
      pays(subscription, cards.get(id) === 'good', open)
    },
    chargeBack(paymentId) {
      const payment = payments.get(Number(paymentId))!
      clock.frozenAt = clock.ms() + 1000
      Object.assign(payment, {
        ...{ status: 'charged_back', status_detail: 'in_process', date_last_updated: instant() },
      })
      touchInvoice(payment)
      notify('payment', payment.id, 'payment.updated')
    },
    decideDispute(paymentId, result, topic = 'payment') {
      const payment = payments.get(Number(paymentId))!
      clock.frozenAt = clock.ms() + 24 * 3_600_000
      Object.assign(payment, { status_detail: result, date_last_updated: instant() })
      if (topic === 'payment') return notify('payment', payment.id, 'payment.updated')
      last += 1
      disputes.set(String(last), payment.id)
      notify(topic, last, 'changed_case_status')
    },
    refundPart(paymentId, amount) {
      const payment = payments.get(Number(paymentId))!
      clock.frozenAt = clock.ms() + 20 * 24 * 3_600_000
      Object.assign(payment, {
        status_detail: 'partially_refunded',
        transaction_amount_refunded: Number(payment.transaction_amount_refunded ?? 0) + amount,
        date_last_updated: instant(),
      })
      notify('payment', payment.id, 'payment.updated')
    },
    setStatus(id, status) {
      clock.frozenAt = clock.ms() + 1000
      subscriptionOf(id).status = status
      changed(subscriptionOf(id))
    },
    paperOf(paymentId, address) {
      Object.assign(payments.get(Number(paymentId))!, {
        transaction_details: { external_resource_url: address },
      })
    },
    notifications: () => pending.splice(0).map((body) => sign(body)),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
