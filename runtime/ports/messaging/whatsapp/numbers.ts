/** Official and shared numbers at the Cloud API: embedded signup, state, health. */
import { randomInt } from 'node:crypto'
import { z } from '../../../schema.ts'
import { Refused, Unavailable } from '../../errors.ts'
import type { ProviderStore } from '../../provider.ts'
import { nameStatusOf, numberStatusOf, qualityOf, tierOf } from '../number-hooks.ts'
import type { NumberHealth, NumberIssue, NumberPort, OfficialState } from '../number-port.ts'
import { callFailure, isAboutAccess } from './errors.ts'
import { type Graph, GraphFailure } from './graph.ts'
import type { WhatsappCredentials } from './options.ts'

const fields = [
  'id',
  'display_phone_number',
  'verified_name',
  'status',
  'name_status',
  'quality_rating',
  'throughput',
  'messaging_limit_tier',
  'whatsapp_business_manager_messaging_limit',
  'health_status',
].join(',')

const numberShape = z.object({
  id: z.string(),
  display_phone_number: z.string(),
  verified_name: z.string().nullish(),
  status: z.string().nullish(),
  name_status: z.string().nullish(),
  quality_rating: z.string().nullish(),
  throughput: z.object({ level: z.string() }).partial().nullish(),
  messaging_limit_tier: z.string().nullish(),
  whatsapp_business_manager_messaging_limit: z.string().nullish(),
  last_onboarded_time: z.string().nullish(),
  health_status: z
    .object({
      can_send_message: z.string(),
      entities: z.array(
        z
          .object({ can_send_message: z.string(), errors: z.array(z.object({ error_code: z.number() })) })
          .partial(),
      ),
    })
    .partial()
    .nullish(),
})
type PhoneNumber = z.infer<typeof numberShape>

const phoneOf = (number: PhoneNumber): string => `+${number.display_phone_number.replace(/\D/g, '')}`

const credentialsOf = (store: ProviderStore): WhatsappCredentials => {
  if (store.credentials) return store.credentials as WhatsappCredentials
  throw new Unavailable('no', 'The store has no access to the provider')
}

/** The network's standard pace, and that of a number it gave more. */
const paces: Readonly<Record<string, number>> = { STANDARD: 80, HIGH: 1_000 }

export class WhatsappNumbers
  implements
    Pick<
      NumberPort,
      | 'startOfficialSetup'
      | 'finishOfficialSetup'
      | 'officialState'
      | 'phoneHealth'
      | 'releaseOfficial'
      | 'joinShared'
      | 'leaveShared'
    >
{
  readonly #graph: Graph
  constructor(graph: Graph) {
    this.#graph = graph
  }

  startOfficialSetup: NumberPort['startOfficialSetup'] = async (_store, { state, returnUrl }) => {
    const { dialogUrl, appId, configId } = this.#graph.options
    const url = new URL(dialogUrl)
    url.search = new URLSearchParams({
      client_id: appId,
      config_id: configId,
      response_type: 'code',
      override_default_response_type: 'true',
      redirect_uri: returnUrl,
      state,
    }).toString()
    return { url: url.href }
  }

  finishOfficialSetup: NumberPort['finishOfficialSetup'] = async (_store, { code, returnUrl }) => {
    const accessToken = await this.#exchange(code, returnUrl)
    const accountId = await this.#accountOf(accessToken)
    const number = await this.#newestNumber(accessToken, accountId)
    await this.#subscribe(accessToken, accountId)
    const pin = String(randomInt(100_000, 1_000_000))
    await this.#graph.call({
      method: 'POST',
      path: `${number.id}/register`,
      token: accessToken,
      body: { messaging_product: 'whatsapp', pin },
    })
    const registered = await this.#number(accessToken, number.id)
    return {
      credentials: { accessToken, numberId: number.id, accountId, pin } satisfies WhatsappCredentials,
      numberId: number.id,
      accountId,
      phone: phoneOf(registered),
      displayName: registered.verified_name ?? '',
      ready: stateOf(registered).status === 'connected',
    }
  }

  officialState: NumberPort['officialState'] = async (store) => {
    const { accessToken, numberId, accountId } = credentialsOf(store)
    try {
      const number = await this.#ask(accessToken, numberId)
      await this.#subscribeWhereLost(accessToken, accountId)
      return stateOf(number)
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const issue = issueOfFailure(error)
      if (!issue) throw callFailure(error.graph)
      return { status: 'error', issue, phone: '', displayName: '', displayNameStatus: null }
    }
  }

  phoneHealth: NumberPort['phoneHealth'] = async (store) => {
    const { accessToken, numberId } = credentialsOf(store)
    return healthOf(await this.#number(accessToken, numberId))
  }

  releaseOfficial: NumberPort['releaseOfficial'] = async (store) => {
    const { accessToken, accountId } = credentialsOf(store)
    try {
      await this.#graph.ask({ method: 'DELETE', path: `${accountId}/subscribed_apps`, token: accessToken })
    } catch (error) {
      // Access that is gone takes the callbacks with it.
      if (!(error instanceof GraphFailure)) throw error
      if (!isAboutAccess(error.graph) && error.graph.code !== 100) throw callFailure(error.graph)
    }
  }

  joinShared: NumberPort['joinShared'] = async () => {
    const { shared } = this.#graph.options
    if (!shared) throw new Refused('no-shared-number', 'This server has no shared number')
    const number = await this.#number(shared.accessToken, shared.numberId)
    return { numberId: shared.numberId, phone: phoneOf(number), displayName: number.verified_name ?? '' }
  }

  /** Nothing is kept of a store there. */
  leaveShared: NumberPort['leaveShared'] = async () => {}

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
      if (error.graph.status >= 500) throw callFailure(error.graph)
      throw new Refused('code-refused', 'The code does not hold (any more)')
    }
  }

  /** The account that the merchant shared with us, by what the token may do. */
  async #accountOf(accessToken: string): Promise<string> {
    const { appId, appSecret } = this.#graph.options
    const answer = await this.#graph.call({
      path: 'debug_token',
      query: { input_token: accessToken },
      token: `${appId}|${appSecret}`,
    })
    const scopes = z
      .object({
        data: z.object({
          granular_scopes: z
            .array(z.object({ scope: z.string(), target_ids: z.array(z.string()).nullish() }))
            .nullish(),
        }),
      })
      .parse(answer).data.granular_scopes
    // The newest comes first.
    const account = scopes?.find((each) => each.scope === 'whatsapp_business_management')?.target_ids?.[0]
    if (!account) throw new Refused('no-account', 'The setup shared no account with us')
    return account
  }

  async #newestNumber(accessToken: string, accountId: string): Promise<PhoneNumber> {
    const answer = await this.#graph.call({
      path: `${accountId}/phone_numbers`,
      query: { fields: `${fields},last_onboarded_time` },
      token: accessToken,
    })
    const { data } = z.object({ data: z.array(numberShape) }).parse(answer)
    const time = ({ last_onboarded_time: at }: PhoneNumber): number => (at ? Date.parse(at) || 0 : 0)
    const [newest] = [...data].sort((a, b) => time(b) - time(a))
    if (!newest) throw new Refused('no-number', 'The account has no number')
    return newest
  }

  async #subscribe(accessToken: string, accountId: string): Promise<void> {
    await this.#graph.call({ method: 'POST', path: `${accountId}/subscribed_apps`, token: accessToken })
  }

  async #subscribeWhereLost(accessToken: string, accountId: string): Promise<void> {
    const answer = await this.#graph.ask({ path: `${accountId}/subscribed_apps`, token: accessToken })
    const { data } = z
      .object({ data: z.array(z.object({ whatsapp_business_api_data: z.object({ id: z.string() }) })) })
      .parse(answer)
    const { appId } = this.#graph.options
    if (data.some((each) => each.whatsapp_business_api_data.id === appId)) return
    await this.#graph.ask({ method: 'POST', path: `${accountId}/subscribed_apps`, token: accessToken })
  }

  async #ask(accessToken: string, numberId: string): Promise<PhoneNumber> {
    return numberShape.parse(await this.#graph.ask({ path: numberId, query: { fields }, token: accessToken }))
  }

  async #number(accessToken: string, numberId: string): Promise<PhoneNumber> {
    return numberShape.parse(
      await this.#graph.call({ path: numberId, query: { fields }, token: accessToken }),
    )
  }
}

export function healthOf(number: PhoneNumber): NumberHealth {
  return {
    qualityRating: qualityOf(number.quality_rating) ?? 'unknown',
    numberStatus: numberStatusOf(number.status) ?? 'connected',
    messagingLimitTier:
      tierOf(number.whatsapp_business_manager_messaging_limit) ??
      tierOf(number.messaging_limit_tier) ??
      'tier-250',
    throughput: paces[number.throughput?.level ?? ''] ?? paces.STANDARD!,
  }
}

function stateOf(number: PhoneNumber): OfficialState {
  const standing = numberStatusOf(number.status) ?? 'connected'
  const displayNameStatus =
    number.name_status && number.name_status !== 'NONE' ? nameStatusOf(number.name_status) : null
  const isSending = standing === 'connected' || standing === 'flagged' || standing === 'restricted'
  const issue = issueOf(number, standing, displayNameStatus, isSending)
  return {
    status: issue ? 'error' : isSending ? 'connected' : 'verifying',
    issue,
    phone: phoneOf(number),
    displayName: number.verified_name ?? '',
    displayNameStatus,
  }
}

function issueOf(
  number: PhoneNumber,
  standing: string,
  name: OfficialState['displayNameStatus'],
  isSending: boolean,
): NumberIssue | null {
  if (standing === 'banned') return number.status === 'DELETED' ? 'number-removed' : 'account-restricted'
  if (standing === 'offline') return 'number-removed'
  if (!isSending && name === 'declined') return 'display-name-declined'
  const { health_status: health } = number
  if (health?.can_send_message !== 'BLOCKED' || !isSending) return null
  const codes = (health.entities ?? []).flatMap((each) => each.errors?.map((error) => error.error_code) ?? [])
  return codes.some((code) => paymentErrors.has(code)) ? 'payment-issue' : 'account-restricted'
}

const paymentErrors = new Set([131042, 141006])

function issueOfFailure({ graph }: GraphFailure): NumberIssue | null {
  if (isAboutAccess(graph)) return 'token-expired'
  if (graph.code === 33 || graph.code === 803 || (graph.code === 100 && graph.subcode === 33)) {
    return 'number-removed'
  }
  if (graph.code === 368 || graph.code === 131031) return 'account-restricted'
  return graph.code === 131042 ? 'payment-issue' : null
}
