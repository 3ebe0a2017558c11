/**
 * The billing adapter for Mercado Pago's subscriptions ("preapprovals") over their REST API.
 *
 * The API cannot do three things, which `capabilities` reports as false. It cannot charge a saved card off schedule, because
 * that needs a token of the card's security code. It has no hosted page to change the card, because a new card is a token
 * made in the browser by the merchant's own page. It cannot charge now for a subscription that begins later. A subscription
 * has only one amount: if the first amount differs, the subscription is created with the first amount and updated once it
 * is paid. There are no coupons for subscriptions: coupons come from a file of the server.
 */

import { dayMs } from '#runtime/durations'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { Precondition } from '#runtime/ports/provider'
import { buildEvents, type Charge, formatReference, parseReference } from './mercado-pago-events.ts'
import { readNotification } from './mercado-pago-hook.ts'
import { type HttpOptions, MercadoPagoHttp } from './mercado-pago-http.ts'
import {
  type AuthorizedPayment,
  anyPreapproval,
  authorizedPayment,
  authorizedPayments,
  chargeback,
  cleanCheckoutUrl,
  type Payment,
  type Preapproval,
  parseAnswer,
  payment,
  preapproval,
  provider,
  type Seller,
  seller,
  toAgreement,
  toCard,
  toPayment,
  toPaymentStatus,
} from './mercado-pago-objects.ts'
import type { Agreement, BillingEvent, BillingPort, CardSummary, CheckoutRequest, Coupon } from './port.ts'
import { buildReason, countMonths } from './reason.ts'

const checkoutLastsMs = dayMs
const pageSize = 50
const longAgo = new Date(0)

export class MercadoPagoBilling implements BillingPort {
  readonly capabilities = { chargeNow: false, cardUpdate: false, pause: true, startsLater: false }
  readonly #http: MercadoPagoHttp
  readonly #clock: { now(): Date }
  readonly #webhookSecret: string
  readonly #findCoupon: (code: string) => Coupon | null
  readonly #publicUrl: string | undefined

  constructor(options: {
    http: HttpOptions
    webhookSecret: string
    clock: { now(): Date }
    findCoupon: (code: string) => Coupon | null
    /** Public address of this server, used by `check`. */
    publicUrl?: string
  }) {
    this.#publicUrl = options.publicUrl
    this.#http = new MercadoPagoHttp(options.http)
    this.#clock = options.clock
    this.#webhookSecret = options.webhookSecret
    this.#findCoupon = options.findCoupon
  }

  async createCheckout(q: CheckoutRequest): ReturnType<BillingPort['createCheckout']> {
    const isFree = Number(q.firstAmount) === 0
    if (q.startsAt !== undefined && !isFree) {
      throw new Refused(
        'unsupported-start',
        'The payment provider cannot charge something now and begin the subscription on a later day',
      )
    }
    const startsAt = q.startsAt ?? (isFree ? addCycle(this.#clock.now(), countMonths(q.billingCycle)) : null)
    const answer = await this.#http.send({
      method: 'POST',
      path: '/preapproval',
      idempotencyKey: q.idempotencyKey,
      body: {
        reason: buildReason(q),
        external_reference: formatReference({ ...q, isDeferred: startsAt !== null }),
        payer_email: q.payerEmail,
        back_url: buildReturnUrl(q.returnUrl),
        status: 'pending',
        auto_recurring: {
          frequency: countMonths(q.billingCycle),
          frequency_type: 'months',
          transaction_amount: Number(isFree ? q.amount : q.firstAmount),
          currency_id: q.currency,
          ...(startsAt === null ? {} : { start_date: new Date(startsAt).toISOString() }),
        },
      },
    })
    const made = parseAnswer(preapproval, answer)
    if (!made.init_point) throw new Refused('no-checkout', 'The payment provider gave no page to pay on')
    const expiresAt = new Date(this.#clock.now().getTime() + checkoutLastsMs)
    return { providerCheckoutId: made.id, url: cleanCheckoutUrl(made.init_point), expiresAt }
  }

  /** Cancels the subscription of an unpaid checkout; a paid checkout is left unchanged. */
  async cancelCheckout(id: string): Promise<void> {
    const found = await this.#preapproval(id)
    if (found.status === 'cancelled') return
    if (found.status !== 'pending') {
      const events = buildEvents(found, await this.#charges(id, longAgo))
      if (events.some(({ data }) => data.outcome === 'approved')) return
    }
    await this.#setStatus(id, 'cancelled')
  }

  parseReturn = (query: URLSearchParams): string | null => {
    const id = query.get('preapproval_id')
    return id && /^\w{1,64}$/.test(id) ? id : null
  }

  listEvents = (id: string, { since }: { since: Date }): Promise<BillingEvent[]> =>
    this.#readEvents(id, since, null)

  async #readEvents(id: string, since: Date, invoice: string | null): Promise<BillingEvent[]> {
    const path = `/preapproval/${encodeURIComponent(id)}`
    const answer = await this.#ignoreForeign(() => this.#http.send({ method: 'GET', path }))
    if (answer === null || !parseReference(parseAnswer(anyPreapproval, answer).external_reference)) return []
    const found = parseAnswer(preapproval, answer)
    const events = buildEvents(found, await this.#charges(id, since, invoice))
    return events.filter((event) => event.occurredAt >= since.toISOString())
  }

  async getAgreement(id: string): Promise<Agreement> {
    const found = await this.#preapproval(id)
    return toAgreement(found, found.status === 'pending' ? null : await this.#lastCard(id))
  }

  /** Reads the subscription first, because the API requires the currency with an amount. */
  async updateAgreement(
    id: string,
    q: { amount: string; reason: string; idempotencyKey: string },
  ): Promise<Agreement> {
    const { auto_recurring: before } = await this.#preapproval(id)
    const answer = await this.#http.send({
      method: 'PUT',
      path: `/preapproval/${encodeURIComponent(id)}`,
      idempotencyKey: q.idempotencyKey,
      body: {
        reason: q.reason,
        auto_recurring: { transaction_amount: Number(q.amount), currency_id: before.currency_id },
      },
    })
    return toAgreement(parseAnswer(preapproval, answer), null)
  }

  async pauseAgreement(id: string): Promise<void> {
    const { status } = await this.#preapproval(id)
    if (status !== 'paused') await this.#setStatus(id, 'paused')
  }

  async cancelAgreement(id: string): Promise<void> {
    const { status } = await this.#preapproval(id)
    if (status !== 'cancelled') await this.#setStatus(id, 'cancelled')
  }

  chargeNow: BillingPort['chargeNow'] = async () => {
    throw new Refused('unsupported', 'This payment provider cannot charge a saved card off schedule')
  }

  createCardUpdate: BillingPort['createCardUpdate'] = async () => {
    throw new Refused('unsupported', 'This payment provider has no page to change the card on')
  }

  listPayments: BillingPort['listPayments'] = async (id, { since }) => {
    const { external_reference: external } = await this.#preapproval(id)
    const reference = parseReference(external)
    const charges = await this.#charges(id, since)
    return charges
      .map(({ payment: each, invoice, isFirst }) =>
        toPayment(each, invoice, isFirst && reference && !reference.isDeferred ? reference.checkoutId : null),
      )
      .filter((each) => each.updatedAt >= since.toISOString())
  }

  async refund(paymentId: string, { idempotencyKey }: { idempotencyKey: string }): Promise<void> {
    const path = `/v1/payments/${encodeURIComponent(paymentId)}`
    const found = parseAnswer(payment, await this.#http.send({ method: 'GET', path }))
    const status = toPaymentStatus(found)
    if (status === 'refunded') return
    // The payment is disputed or in review: it may become refundable once that is decided.
    if (status === 'pending') throw new Refused('not-refundable-yet', 'The payment is not decided')
    if (status !== 'approved') throw new Refused('not-refundable', `The payment is ${status}`)
    await this.#http.send({
      method: 'POST',
      path: `${path}/refunds`,
      body: {},
      idempotencyKey,
      isRepeatable: true,
    })
  }

  findCoupon = async (code: string): Promise<Coupon | null> => this.#findCoupon(code)

  /** Fetches the state of the whole subscription, so that no event is missed: a notification only names an object. */
  async parseWebhook(headers: Headers, rawBody: Uint8Array): Promise<BillingEvent[]> {
    const { type, id, since } = readNotification(this.#webhookSecret, headers, rawBody)
    const named = await this.#findSubject(type, id)
    return named === null ? [] : this.#readEvents(named.subscription, since ?? longAgo, named.invoice)
  }

  async #findSubject(
    type: string,
    id: string,
  ): Promise<{ subscription: string; invoice: string | null } | null> {
    const of = ({ id: invoice, preapproval_id: subscription }: AuthorizedPayment) => ({
      subscription,
      invoice,
    })
    const find = async () => {
      if (type === 'subscription_preapproval') {
        await this.#http.send({ method: 'GET', path: `/preapproval/${encodeURIComponent(id)}` })
        return { subscription: id, invoice: null }
      }
      if (type === 'subscription_authorized_payment') {
        const answer = await this.#http.send({ method: 'GET', path: `/authorized_payments/${id}` })
        return of(parseAnswer(authorizedPayment, answer))
      }
      const payment = type === 'payment' ? id : await this.#findDisputedPayment(type, id)
      if (payment === null) return null
      const [invoice] = await this.#invoices(`payment_id=${payment}`)
      return invoice ? of(invoice) : null
    }
    try {
      return await this.#ignoreForeign(find)
    } catch (error) {
      // The object belongs to another seller, or this is the test notification of Mercado Pago's panel.
      if (error instanceof Refused && error.code === 'not-found') return null
      throw error
    }
  }

  async #findDisputedPayment(type: string, id: string): Promise<string | null> {
    if (type !== 'topic_chargebacks_wh') return null
    const answer = await this.#http.send({ method: 'GET', path: `/v1/chargebacks/${id}` })
    return parseAnswer(chargeback, answer).payments[0] ?? null
  }

  /**
   * Returns null for another seller's object. For such an object the API responds as if the access token were wrong, so
   * `/users/me` is called to show that the token is valid.
   */
  async #ignoreForeign<T>(ask: () => Promise<T>): Promise<T | null> {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof AccessLost)) throw error
      await this.#seller()
      return null
    }
  }

  async #seller(): Promise<Seller> {
    return parseAnswer(seller, await this.#http.send({ method: 'GET', path: '/users/me' }))
  }

  async check(): Promise<Precondition[]> {
    const findings = [this.#checkAddress()]
    try {
      const { email, site_id: site, tags } = await this.#seller()
      const isTest = tags?.includes('test_user') ?? false
      findings.push(
        {
          code: 'access',
          isFine: true,
          message: `Mercado Pago takes the access token of ${email ?? 'the seller'}`,
        },
        site === 'MLB'
          ? { code: 'country', isFine: true, message: 'The account is of Brazil, and charges BRL' }
          : {
              code: 'country',
              isFine: false,
              message: `The account belongs to ${site ?? 'an unknown country'}, and charges only its own currency`,
              remedy: 'Use an account of Brazil: plans are charged in BRL, or USD, which no account charges',
            },
        isTest
          ? {
              code: 'seller',
              isFine: false,
              message: 'The access token is of a test user: only test users can pay',
              remedy: 'Put the production credentials of the application in BILLING_URL',
            }
          : { code: 'seller', isFine: true, message: 'The account is a real one' },
        {
          code: 'notifications',
          isFine: true,
          message:
            'Not checked: Mercado Pago does not report which notifications are on. They must be payment, subscription_preapproval, subscription_authorized_payment and topic_chargebacks_wh',
        },
      )
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof Throttled || error instanceof Refused))
        throw error
      const isLost = error instanceof AccessLost
      findings.push({
        code: isLost ? error.code : 'access',
        isFine: false,
        message: error.message,
        remedy: isLost ? error.remedy : 'Try again later',
      })
    }
    return findings
  }

  #checkAddress(): Precondition {
    return this.#publicUrl === undefined || this.#publicUrl.startsWith('https://')
      ? { code: 'address', isFine: true, message: 'Payers and notifications come back by https' }
      : {
          code: 'address',
          isFine: false,
          message: `${this.#publicUrl} is no https address: payers come back to it, and notifications arrive there`,
          remedy: 'Set PUBLIC_URL to the https address of this server',
        }
  }

  async #preapproval(id: string): Promise<Preapproval> {
    const path = `/preapproval/${encodeURIComponent(id)}`
    return parseAnswer(preapproval, await this.#http.send({ method: 'GET', path }))
  }

  async #setStatus(id: string, status: 'paused' | 'cancelled'): Promise<void> {
    await this.#http.send({ method: 'PUT', path: `/preapproval/${encodeURIComponent(id)}`, body: { status } })
  }

  /**
   * Payments of the subscription's invoices that changed since `since`, oldest first. The payment of the invoice `named` is
   * always included, because a refund does not change the invoice.
   */
  async #charges(id: string, since: Date, named: string | null = null): Promise<Charge[]> {
    const invoices = await this.#invoices(`preapproval_id=${encodeURIComponent(id)}`)
    const charges: Charge[] = []
    for (const [index, invoice] of invoices.entries()) {
      const changedAt = invoice.last_modified ?? invoice.date_created
      const paymentId = invoice.payment?.id
      if (!paymentId || (changedAt < since.toISOString() && invoice.id !== named)) continue
      charges.push({ invoice, payment: await this.#payment(paymentId), isFirst: index === 0 })
    }
    return charges
  }

  /** Reads the card from the latest payment, because a subscription does not contain it. */
  async #lastCard(id: string): Promise<CardSummary | null> {
    const invoices = await this.#invoices(`preapproval_id=${encodeURIComponent(id)}`)
    const paymentId = invoices.findLast((invoice) => invoice.payment?.id)?.payment?.id
    return paymentId ? toCard(await this.#payment(paymentId)) : null
  }

  async #payment(id: string): Promise<Payment> {
    const path = `/v1/payments/${encodeURIComponent(id)}`
    return parseAnswer(payment, await this.#http.send({ method: 'GET', path }))
  }

  async #invoices(filter: string): Promise<AuthorizedPayment[]> {
    const found: AuthorizedPayment[] = []
    for (;;) {
      const path = `/authorized_payments/search?${filter}&offset=${found.length}&limit=${pageSize}`
      const page = parseAnswer(authorizedPayments, await this.#http.send({ method: 'GET', path }))
      found.push(...page.results)
      if (page.results.length === 0 || found.length >= page.paging.total) break
    }
    return found.sort((a, b) => (getDueDate(a) < getDueDate(b) ? -1 : 1))
  }
}

const getDueDate = (invoice: AuthorizedPayment): string => invoice.debit_date ?? invoice.date_created

/** The return address; Mercado Pago adds the parameter `preapproval_id`. */
function buildReturnUrl(returnUrl: string): string {
  const url = new URL(returnUrl)
  url.searchParams.set('provider', provider)
  return url.href
}

function addCycle(now: Date, months: number): string {
  const next = new Date(now)
  const day = next.getUTCDate()
  next.setUTCMonth(next.getUTCMonth() + months)
  // 31 January plus a month is the last day of February, not a day in March.
  if (next.getUTCDate() !== day) next.setUTCDate(0)
  return next.toISOString()
}
