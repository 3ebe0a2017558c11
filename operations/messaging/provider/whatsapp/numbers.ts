/** Official and shared numbers at the Cloud API: state, health, and the end of a connection. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import type { NumberPort } from '../number-port.ts'
import { callFailure, isAboutAccess } from './errors.ts'
import { type Graph, GraphFailure } from './graph.ts'
import type { WhatsappCredentials } from './options.ts'
import { healthOf, issueOfFailure, type PhoneNumbers, phoneOf, stateOf } from './phone-numbers.ts'

const credentialsOf = (store: ProviderStore): WhatsappCredentials => {
  if (store.credentials) return store.credentials as WhatsappCredentials
  throw new Unavailable('no', 'The store has no access to the provider')
}

export const subscribersShape = z.object({
  data: z.array(z.object({ whatsapp_business_api_data: z.object({ id: z.string() }) })),
})

export class WhatsappNumbers
  implements
    Pick<
      NumberPort,
      | 'officialState'
      | 'phoneHealth'
      | 'releaseOfficial'
      | 'numberPin'
      | 'requestHistory'
      | 'joinShared'
      | 'leaveShared'
    >
{
  readonly #graph: Graph
  readonly #numbers: PhoneNumbers
  constructor(graph: Graph, numbers: PhoneNumbers) {
    this.#graph = graph
    this.#numbers = numbers
  }

  officialState: NumberPort['officialState'] = async (store) => {
    const { accessToken, numberId, accountId } = credentialsOf(store)
    try {
      const number = await this.#numbers.ask(accessToken, numberId)
      await this.#subscribeWhereLost(accessToken, accountId)
      return stateOf(number)
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const issue = issueOfFailure(error.graph)
      if (!issue) throw callFailure(error.graph)
      return { status: 'error', issue, phone: '', displayName: '', displayNameStatus: null }
    }
  }

  phoneHealth: NumberPort['phoneHealth'] = async (store) => {
    const { accessToken, numberId } = credentialsOf(store)
    return healthOf(await this.#numbers.find(accessToken, numberId))
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

  numberPin: NumberPort['numberPin'] = (store) => {
    const { numberId, pin } = credentialsOf(store)
    return pin ? { numberId, pin } : null
  }

  /** Asked for once, within a day of the signup: the people first, then what was written. */
  requestHistory: NumberPort['requestHistory'] = async (store) => {
    const { accessToken, numberId, isOnApp } = credentialsOf(store)
    if (!isOnApp) return
    for (const kind of ['smb_app_state_sync', 'history']) {
      await this.#graph.call({
        method: 'POST',
        path: `${numberId}/smb_app_data`,
        token: accessToken,
        body: { messaging_product: 'whatsapp', sync_type: kind },
      })
    }
  }

  joinShared: NumberPort['joinShared'] = async () => {
    const { shared } = this.#graph.options
    if (!shared) throw new Refused('no-shared-number', 'This server has no shared number')
    const number = await this.#numbers.find(shared.accessToken, shared.numberId)
    return { numberId: shared.numberId, phone: phoneOf(number), displayName: number.verified_name ?? '' }
  }

  /** Nothing is kept of a store there. */
  leaveShared: NumberPort['leaveShared'] = async () => {}

  async #subscribeWhereLost(accessToken: string, accountId: string): Promise<void> {
    const answer = await this.#graph.ask({ path: `${accountId}/subscribed_apps`, token: accessToken })
    const { appId } = this.#graph.options
    const { data } = subscribersShape.parse(answer)
    if (data.some((each) => each.whatsapp_business_api_data.id === appId)) return
    await this.#graph.ask({ method: 'POST', path: `${accountId}/subscribed_apps`, token: accessToken })
  }
}
