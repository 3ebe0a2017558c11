/** The embedded signup of official numbers: its page, its result, and the chosen number. */
import { randomInt } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { type NumberPort, type OfficialSetup, SetupQuestion } from '../number-port.ts'
import { isThrottled, toCallError } from './errors.ts'
import { type Graph, GraphFailure } from './graph.ts'
import type { WhatsappCredentials } from './options.ts'
import { isOnApp, type PhoneNumber, type PhoneNumbers, toPhone, toState } from './phone-numbers.ts'

/** The saved grant of a setup that waits for the merchant's answer. */
interface Granted {
  accessToken: string
  accountIds: string[]
}

type ChosenNumber = PhoneNumber & { accountId: string }

/** Error code: the number has another PIN for its two-step verification. */
const pinMismatch = 133005
const registerErrors: Readonly<Record<number, { code: string; message: string }>> = {
  133006: {
    code: 'number-unverified',
    message: 'The number is not verified yet: finish that in WhatsApp Manager',
  },
  133008: { code: 'pin-locked', message: 'The PIN was guessed too often: try again in a few hours' },
  133009: { code: 'pin-locked', message: 'The PIN was guessed too fast: try again in a few minutes' },
  133015: {
    code: 'number-deleted-lately',
    message: 'The number was deleted a moment ago: try again in 5 minutes',
  },
}

export class WhatsappSignup implements Pick<NumberPort, 'startOfficialSetup' | 'finishOfficialSetup'> {
  readonly #graph: Graph
  readonly #numbers: PhoneNumbers

  constructor(graph: Graph, numbers: PhoneNumbers) {
    this.#graph = graph
    this.#numbers = numbers
  }

  startOfficialSetup: NumberPort['startOfficialSetup'] = async (_store, { state, returnUrl }) => {
    const { dialogUrl, appId, configId, signupVersion } = this.#graph.options
    const extras = {
      setup: {},
      // Allows numbers of the WhatsApp Business app; other merchants choose a new number there.
      featureType: 'whatsapp_business_app_onboarding',
      sessionInfoVersion: '3',
      ...(signupVersion ? { version: signupVersion } : {}),
    }
    const url = new URL(dialogUrl)
    url.search = new URLSearchParams({
      client_id: appId,
      config_id: configId,
      response_type: 'code',
      override_default_response_type: 'true',
      redirect_uri: returnUrl,
      state,
      extras: JSON.stringify(extras),
    }).toString()
    return { url: url.href }
  }

  finishOfficialSetup: NumberPort['finishOfficialSetup'] = async (store, setup) => {
    const granted = await this.#granted(store, setup)
    const { accessToken } = granted
    const number = await this.#chosen(granted, setup)
    const { accountId } = number
    await this.#graph.call({ method: 'POST', path: `${accountId}/subscribed_apps`, token: accessToken })
    const pin = isOnApp(number) ? null : await this.#register(granted, number, setup)
    const registered = await this.#numbers.find(accessToken, number.id)
    const credentials: WhatsappCredentials = {
      accessToken,
      numberId: number.id,
      accountId,
      pin,
      isOnApp: isOnApp(number),
    }
    return {
      credentials,
      numberId: number.id,
      accountId,
      phone: toPhone(registered),
      displayName: registered.verified_name ?? '',
      ready: toState(registered).status === 'connected',
    }
  }

  /** Exchanges the code for a grant, or returns the saved one. A code works only once, so its grant is saved at once. */
  async #granted(store: ProviderStore, { code, returnUrl, saveGrant }: OfficialSetup): Promise<Granted> {
    // Without `accountIds`, these are the credentials of a connected number, not a saved grant.
    const saved = store.credentials as { accessToken: string; accountIds?: string[] | null } | null
    const before = saved?.accountIds === undefined ? null : saved
    const accessToken = before?.accessToken ?? (await this.#exchange(code, returnUrl))
    if (!before) await saveGrant?.({ accessToken, accountIds: null })
    return { accessToken, accountIds: before?.accountIds ?? (await this.#accountsOf(accessToken)) }
  }

  async #exchange(code: string, returnUrl: string): Promise<string> {
    const { appId, appSecret } = this.#graph.options
    try {
      const answer = await this.#graph.ask({
        method: 'POST',
        path: 'oauth/access_token',
        token: null,
        body: { client_id: appId, client_secret: appSecret, code, redirect_uri: returnUrl },
      })
      return z.object({ access_token: z.string().min(1) }).parse(answer).access_token
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      if (error.graph.status >= 500 || isThrottled(error.graph)) throw toCallError(error.graph)
      throw new Refused('code-refused', 'The code is not valid (any more)')
    }
  }

  /** Reads the accounts that the merchant shared with us from the token's permissions. Their order means nothing. */
  async #accountsOf(accessToken: string): Promise<string[]> {
    const { appId, appSecret } = this.#graph.options
    const answer = await this.#graph.call({
      path: 'debug_token',
      query: { input_token: accessToken },
      token: `${appId}|${appSecret}`,
    })
    const { granular_scopes: scopes } = debugShape.parse(answer).data
    const accounts = scopes?.find((each) => each.scope === 'whatsapp_business_management')?.target_ids ?? []
    if (accounts.length === 0) throw new Refused('no-account', 'The setup shared no account with us')
    return accounts
  }

  /**
   * Returns the number that the merchant named, otherwise the only number of the accounts, otherwise the only number that
   * was added since the setup started. If none of these exists, asks the merchant with a `SetupQuestion`.
   */
  async #chosen(granted: Granted, setup: OfficialSetup): Promise<ChosenNumber> {
    const { accessToken } = granted
    const { answers = {}, sharedAccounts = [], startedAt } = setup
    const shared = answers.accountId ?? sharedAccounts.find((id) => granted.accountIds.includes(id))
    const accounts = shared && granted.accountIds.includes(shared) ? [shared] : granted.accountIds
    const numbers: ChosenNumber[] = []
    for (const accountId of accounts) {
      const found = await this.#numbers.ofAccount(accessToken, accountId)
      numbers.push(...found.map((number) => ({ ...number, accountId })))
    }
    if (numbers.length === 0) throw new Refused('no-number', 'The account has no number')
    const named = numbers.find(({ id }) => id === answers.numberId)
    if (named) return named
    const [first, ...others] = numbers
    if (others.length === 0) return first!
    const since = (startedAt?.getTime() ?? Number.POSITIVE_INFINITY) - clockSkewMs
    const fresh = numbers.filter(({ last_onboarded_time: at }) => (at ? Date.parse(at) : 0) >= since)
    if (fresh.length === 1) return fresh[0]!
    const choices = numbers.map((number) => ({ value: number.id, label: toPhone(number) }))
    throw new SetupQuestion('numberId', 'Several numbers were shared: choose which one to connect', {
      granted,
      choices,
    })
  }

  /** Returns the PIN that the number had when it was last connected here, otherwise a new one. */
  async #pinFor({ id }: ChosenNumber, { findPin, savePin }: OfficialSetup): Promise<string> {
    const known = await findPin?.(id)
    if (known) return known
    const made = String(randomInt(100_000, 1_000_000))
    await savePin?.(id, made)
    return made
  }

  /** Registers the number and returns its PIN. */
  async #register(granted: Granted, number: ChosenNumber, setup: OfficialSetup): Promise<string> {
    const { answers = {} } = setup
    const pin = answers.pin ?? (await this.#pinFor(number, setup))
    try {
      await this.#graph.ask({
        method: 'POST',
        path: `${number.id}/register`,
        token: granted.accessToken,
        body: { messaging_product: 'whatsapp', pin },
      })
      return pin
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const refusal = registerErrors[error.graph.code]
      if (refusal) throw new Refused(refusal.code, refusal.message)
      if (error.graph.code !== pinMismatch) throw toCallError(error.graph)
      const message = answers.pin
        ? `This is not the PIN that ${toPhone(number)} has`
        : `${toPhone(number)} has a PIN of its two-step verification: say it, or turn it off in WhatsApp Manager`
      throw new SetupQuestion('pin', message, { granted, choices: [] })
    }
  }
}

const clockSkewMs = 120_000

const debugShape = z.object({
  data: z.object({
    granular_scopes: z
      .array(z.object({ scope: z.string(), target_ids: z.array(z.string()).nullish() }))
      .nullish(),
  }),
})
