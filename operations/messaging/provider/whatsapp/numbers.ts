/** Official and shared numbers at the Cloud API: state, health, and the end of a connection. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import type { NumberPort } from '../number-port.ts'
import { isAboutAccess, toCallError } from './errors.ts'
import { type Graph, GraphFailure } from './graph.ts'
import type { WhatsappCredentials } from './options.ts'
import { type PhoneNumbers, toHealth, toIssueOfError, toPhone, toState } from './phone-numbers.ts'

const readCredentials = (store: ProviderStore): WhatsappCredentials => {
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
    const { accessToken, numberId, accountId } = readCredentials(store)
    try {
      const number = await this.#numbers.ask(accessToken, numberId)
      await this.#subscribeWhereLost(accessToken, accountId)
      return toState(number)
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const issue = toIssueOfError(error.graph)
      if (!issue) throw toCallError(error.graph)
      return { status: 'error', issue, phone: '', displayName: '', displayNameStatus: null }
    }
  }

  phoneHealth: NumberPort['phoneHealth'] = async (store) => {
    const { accessToken, numberId } = readCredentials(store)
    return toHealth(await this.#numbers.find(accessToken, numberId))
  }

  releaseOfficial: NumberPort['releaseOfficial'] = async (store) => {
    const { accessToken, accountId } = readCredentials(store)
    try {
      await this.#graph.ask({ method: 'DELETE', path: `${accountId}/subscribed_apps`, token: accessToken })
    } catch (error) {
      // An error about access is ignored: a server without access gets no callbacks either.
      if (!(error instanceof GraphFailure)) throw error
      if (!isAboutAccess(error.graph) && error.graph.code !== 100) throw toCallError(error.graph)
    }
  }

  numberPin: NumberPort['numberPin'] = (store) => {
    const { numberId, pin } = readCredentials(store)
    return pin ? { numberId, pin } : null
  }

  /** Requests contacts first, then messages. The provider allows this once, within a day of the signup. */
  requestHistory: NumberPort['requestHistory'] = async (store) => {
    const { accessToken, numberId, isOnApp } = readCredentials(store)
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
    return { numberId: shared.numberId, phone: toPhone(number), displayName: number.verified_name ?? '' }
  }

  /** Does nothing, because the provider stores nothing about a store on the shared number. */
  leaveShared: NumberPort['leaveShared'] = async () => {}

  async #subscribeWhereLost(accessToken: string, accountId: string): Promise<void> {
    const answer = await this.#graph.ask({ path: `${accountId}/subscribed_apps`, token: accessToken })
    const { appId } = this.#graph.options
    const { data } = subscribersShape.parse(answer)
    if (data.some((each) => each.whatsapp_business_api_data.id === appId)) return
    await this.#graph.ask({ method: 'POST', path: `${accountId}/subscribed_apps`, token: accessToken })
  }
}
