/** Checks each precondition of a connection to the Cloud API, without changing anything. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import type { Graph } from './graph.ts'
import { subscribersShape } from './numbers.ts'
import type { WhatsappCredentials } from './options.ts'
import { isOnApp, type PhoneNumber, type PhoneNumbers, toHealth, toPhone, toState } from './phone-numbers.ts'

const permissions = ['whatsapp_business_management', 'whatsapp_business_messaging']
/** The webhook fields that the app must subscribe to: events of a field without a subscription never arrive. */
export const webhookFields = [
  'messages',
  'message_template_status_update',
  'message_template_quality_update',
  'template_category_update',
  'account_update',
  'account_review_update',
  'business_capability_update',
  'phone_number_quality_update',
  'phone_number_name_update',
  'smb_message_echoes',
  'smb_app_state_sync',
  'history',
]

const tokenShape = z.object({
  data: z
    .object({ is_valid: z.boolean(), scopes: z.array(z.string()), expires_at: z.number() })
    .partial()
    .default({}),
})
const subscriptionsShape = z.object({
  data: z.array(
    z.object({
      object: z.string(),
      callback_url: z.string().nullish(),
      active: z.boolean().nullish(),
      fields: z.array(z.union([z.string(), z.object({ name: z.string() })])).default([]),
    }),
  ),
})
const accountShape = z.object({ account_review_status: z.string().nullish() })

export class WhatsappCheck {
  readonly #graph: Graph
  readonly #numbers: PhoneNumbers

  constructor(graph: Graph, numbers: PhoneNumbers) {
    this.#graph = graph
    this.#numbers = numbers
  }

  async check(store: ProviderStore): Promise<Precondition[]> {
    const credentials = store.credentials as WhatsappCredentials | null
    const { shared } = this.#graph.options
    const ofApp = await this.#callbacks()
    const ofShared = shared ? await this.#sharedNumber(shared) : []
    return [...ofApp, ...(credentials ? await this.#connection(credentials) : []), ...ofShared]
  }

  async #connection({ accessToken, accountId, numberId }: WhatsappCredentials): Promise<Precondition[]> {
    const token = await this.#token(accessToken)
    // Without access nothing else can be checked.
    if (!token[0]!.isFine) return token
    return [
      ...token,
      ...(await runCheck('subscription', () => this.#subscription(accessToken, accountId))),
      ...(await runCheck('number', async () => checkNumber(await this.#numbers.find(accessToken, numberId)))),
      ...(await runCheck('account', () => this.#account(accessToken, accountId))),
    ]
  }

  #token(accessToken: string): Promise<Precondition[]> {
    const { appId, appSecret } = this.#graph.options
    return runCheck('token', async () => {
      const answer = await this.#graph.call({
        path: 'debug_token',
        query: { input_token: accessToken },
        token: `${appId}|${appSecret}`,
      })
      const { is_valid: isValid = false, scopes = [] } = tokenShape.parse(answer).data
      const missing = permissions.filter((each) => !scopes.includes(each))
      const remedy = 'Connect the official number again, and grant the app all that it asks for'
      return [
        toPrecondition(
          'token',
          isValid,
          isValid ? 'The access token holds' : 'The access token does not hold',
          remedy,
        ),
        toPrecondition(
          'permissions',
          missing.length === 0,
          missing.length === 0 ? `It may ${permissions.join(', ')}` : `It lacks ${missing.join(', ')}`,
          `${remedy}; the login configuration of the app must ask for them`,
        ),
      ]
    })
  }

  async #subscription(token: string, accountId: string): Promise<Precondition[]> {
    const { data } = subscribersShape.parse(
      await this.#graph.call({ path: `${accountId}/subscribed_apps`, token }),
    )
    const { appId } = this.#graph.options
    const isFine = data.some((each) => each.whatsapp_business_api_data.id === appId)
    const message = isFine
      ? 'The account sends its events to our app'
      : 'The account does not send its events to our app'
    return [
      toPrecondition('subscription', isFine, message, 'Revalidate the official number: it subscribes again'),
    ]
  }

  async #account(token: string, accountId: string): Promise<Precondition[]> {
    const answer = await this.#graph.call({
      path: accountId,
      query: { fields: 'account_review_status' },
      token,
    })
    const status = accountShape.parse(answer).account_review_status ?? 'APPROVED'
    return [
      toPrecondition(
        'account',
        status === 'APPROVED',
        `The account is ${status.toLowerCase()}`,
        'Look into WhatsApp Manager what its review asks for; templates may be refused until then',
      ),
    ]
  }

  /** Checks the app's own webhook subscription, with the app's access. */
  #callbacks(): Promise<Precondition[]> {
    const { appId, appSecret, callbackUrl } = this.#graph.options
    return runCheck('webhook', async () => {
      const token = `${appId}|${appSecret}`
      const answer = await this.#graph.call({ path: `${appId}/subscriptions`, token })
      const ours = subscriptionsShape
        .parse(answer)
        .data.find(({ object }) => object === 'whatsapp_business_account')
      const subscribed = (ours?.fields ?? []).map((each) => (typeof each === 'string' ? each : each.name))
      const missing = webhookFields.filter((field) => !subscribed.includes(field))
      const isActive = ours !== undefined && ours.active !== false
      const isHere = callbackUrl === null || ours?.callback_url === callbackUrl
      const address = callbackUrl ?? 'https://…/hooks/messaging/whatsapp'
      return [
        toPrecondition(
          'webhook-address',
          isActive && isHere,
          isActive
            ? `Callbacks go to ${ours.callback_url ?? 'an address it does not say'}`
            : 'No callbacks are set up',
          `Enter ${address} as callback URL of the app's product WhatsApp, with MESSAGING_VERIFY_TOKEN as its verify token`,
        ),
        toPrecondition(
          'webhook-fields',
          missing.length === 0,
          missing.length === 0
            ? 'All fields of callbacks are subscribed'
            : `Not subscribed: ${missing.join(', ')}`,
          'Subscribe to them below the callback URL in the app dashboard',
        ),
      ]
    })
  }

  #sharedNumber({
    accessToken,
    numberId,
  }: {
    accessToken: string
    numberId: string
  }): Promise<Precondition[]> {
    return runCheck('shared-number', async () => {
      const number = await this.#numbers.find(accessToken, numberId)
      const { status } = toState(number)
      return [
        toPrecondition(
          'shared-number',
          status === 'connected',
          `The shared number ${toPhone(number)} is ${status}`,
          'Look into WhatsApp Manager what keeps the shared number from sending',
        ),
      ]
    })
  }
}

function checkNumber(number: PhoneNumber): Precondition[] {
  const { status, issue, displayNameStatus } = toState(number)
  const { qualityRating, messagingLimitTier, throughput } = toHealth(number)
  const phone = toPhone(number)
  const app = isOnApp(number) ? ', in use with the WhatsApp Business app too' : ''
  return [
    toPrecondition(
      'number',
      status === 'connected',
      `${phone} is ${issue ?? status}${app}: ${throughput} messages a second, ${messagingLimitTier}`,
      'Look into WhatsApp Manager what keeps the number from sending, then revalidate it',
    ),
    toPrecondition(
      'quality',
      qualityRating !== 'red',
      `The quality of ${phone} is ${qualityRating}`,
      'People block or report its messages: send less, and only to who asked for it',
    ),
    toPrecondition(
      'display-name',
      displayNameStatus !== 'declined',
      `The display name ${number.verified_name ?? ''} is ${displayNameStatus ?? 'not reviewed'}`,
      'Enter another display name in WhatsApp Manager',
    ),
  ]
}

const toPrecondition = (code: string, isFine: boolean, message: string, remedy: string): Precondition => ({
  code,
  isFine,
  message,
  ...(isFine ? {} : { remedy }),
})

/** Runs a check. If the check itself fails, that is also reported as an unmet precondition. */
async function runCheck(code: string, look: () => Promise<Precondition[]>): Promise<Precondition[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unavailable)) {
      return [
        toPrecondition(
          code,
          false,
          'The provider answered in another form',
          'Try another version in MESSAGING_URL',
        ),
      ]
    }
    const { remedy } = error as { remedy?: string }
    return [toPrecondition(code, false, error.message, remedy ?? 'Try again in a minute')]
  }
}
