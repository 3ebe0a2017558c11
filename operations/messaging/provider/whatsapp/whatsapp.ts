/**
 * Adapter for the WhatsApp Business Cloud API. The API does not deduplicate, so a send whose response was lost is not
 * repeated; a webhook event that contains our message key shows whether the message was accepted.
 */

import { minuteMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import { isSigned, parseHookBody } from '../hook-body.ts'
import type { MessagingPort } from '../port.ts'
import { WhatsappCheck } from './check.ts'
import { Graph } from './graph.ts'
import { fetchMedia } from './media.ts'
import { WhatsappNumbers } from './numbers.ts'
import type { WhatsappCredentials, WhatsappOptions } from './options.ts'
import { appRate, PhoneNumbers, standardRate } from './phone-numbers.ts'
import {
  buildMediaContent,
  buildSharedContent,
  buildTemplateContent,
  buildTextContent,
  findSender,
  sendMessage,
} from './send.ts'
import { WhatsappSignup } from './signup.ts'
import { WhatsappTemplates } from './templates.ts'

const sharedPerSecond = 10
const rateTtlMs = 10 * minuteMs

const noQr = (): Refused => new Refused('no-qr', 'The provider links no phones by QR code')

export class WhatsappMessaging implements MessagingPort {
  readonly capabilities: MessagingPort['capabilities']
  readonly assistant: MessagingPort['assistant']
  readonly #graph: Graph
  readonly #numbers: WhatsappNumbers
  readonly #signup: WhatsappSignup
  readonly #check: WhatsappCheck
  readonly #templates: WhatsappTemplates
  readonly #paces = new Map<string, { until: number; perSecond: Promise<number> }>()

  constructor(options: WhatsappOptions) {
    const { assistant, shared } = options
    this.capabilities = { idempotentSend: false, qr: false, shared: shared !== null }
    this.assistant = assistant && { numberId: assistant.numberId, phone: assistant.phone }
    this.#graph = new Graph(options)
    const numbers = new PhoneNumbers(this.#graph)
    this.#numbers = new WhatsappNumbers(this.#graph, numbers)
    this.#signup = new WhatsappSignup(this.#graph, numbers)
    this.#check = new WhatsappCheck(this.#graph, numbers)
    this.#templates = new WhatsappTemplates(this.#graph)
  }

  async startQr(): Promise<never> {
    throw noQr()
  }
  async refreshQr(): Promise<never> {
    throw noQr()
  }
  async stopQr(): Promise<void> {}

  startOfficialSetup: MessagingPort['startOfficialSetup'] = (store, setup) =>
    this.#signup.startOfficialSetup(store, setup)
  finishOfficialSetup: MessagingPort['finishOfficialSetup'] = (store, setup) =>
    this.#signup.finishOfficialSetup(store, setup)
  officialState: MessagingPort['officialState'] = (store) => this.#numbers.officialState(store)
  phoneHealth: MessagingPort['phoneHealth'] = (store) => this.#numbers.phoneHealth(store)
  releaseOfficial: MessagingPort['releaseOfficial'] = (store) => this.#numbers.releaseOfficial(store)
  check: MessagingPort['check'] = (store) => this.#check.check(store)
  numberPin: MessagingPort['numberPin'] = (store) => this.#numbers.numberPin(store)
  requestHistory: MessagingPort['requestHistory'] = (store) => this.#numbers.requestHistory(store)
  joinShared: MessagingPort['joinShared'] = (store) => this.#numbers.joinShared(store)
  leaveShared: MessagingPort['leaveShared'] = (store) => this.#numbers.leaveShared(store)

  createTemplate: MessagingPort['createTemplate'] = (store, template) =>
    this.#templates.createTemplate(store, template)
  editTemplate: MessagingPort['editTemplate'] = (store, providerId, template) =>
    this.#templates.editTemplate(store, providerId, template)
  deleteTemplate: MessagingPort['deleteTemplate'] = (store, template) =>
    this.#templates.deleteTemplate(store, template)
  listTemplates: MessagingPort['listTemplates'] = (store, cursor) =>
    this.#templates.listTemplates(store, cursor)

  sendText: MessagingPort['sendText'] = async (store, message) => {
    const { shared } = this.#graph.options
    const content =
      message.via === 'shared' && shared && !message.isWindowOpen
        ? buildSharedContent(shared.template, message.text)
        : buildTextContent(message.text)
    return sendMessage(this.#graph, store, message, content)
  }

  sendMedia: MessagingPort['sendMedia'] = async (store, message) =>
    sendMessage(this.#graph, store, message, buildMediaContent(message.media, message.text))

  sendTemplate: MessagingPort['sendTemplate'] = async (store, message) =>
    sendMessage(this.#graph, store, message, buildTemplateContent(message))

  /** The official number's rate as the provider reports it, read every ten minutes. */
  sendLimits: MessagingPort['sendLimits'] = async (store, via) => {
    if (via !== 'official') return { perSecond: sharedPerSecond, perDay: null }
    return { perSecond: await this.#paceOf(store), perDay: null }
  }

  #paceOf(store: ProviderStore): Promise<number> {
    const { numberId, isOnApp } = (store.credentials ?? {}) as Partial<WhatsappCredentials>
    const usual = isOnApp ? appRate : standardRate
    if (!numberId) return Promise.resolve(usual)
    const known = this.#paces.get(numberId)
    if (known && performance.now() < known.until) return known.perSecond
    const perSecond = this.phoneHealth(store).then(
      ({ throughput }) => throughput,
      () => usual,
    )
    this.#paces.set(numberId, { until: performance.now() + rateTtlMs, perSecond })
    return perSecond
  }

  markRead: MessagingPort['markRead'] = async (store, { providerMessageId }) => {
    const { numberId, accessToken } = findSender(this.#graph, store, 'official')
    await this.#graph.call({
      method: 'POST',
      path: `${numberId}/messages`,
      token: accessToken,
      body: { messaging_product: 'whatsapp', status: 'read', message_id: providerMessageId },
    })
  }

  fetchMedia: MessagingPort['fetchMedia'] = async (store, { mediaId }) =>
    fetchMedia(this.#graph, findSender(this.#graph, store, 'official').accessToken, mediaId)

  /** Not supported: the Cloud API reports events by callbacks only. */
  async history(): Promise<{ supported: boolean; events: ProviderEvent[]; next: string | null }> {
    return { supported: false, events: [], next: null }
  }

  verifySignature(headers: Headers, rawBody: Uint8Array): boolean {
    return isSigned(this.#graph.options.appSecret, headers, rawBody)
  }

  parseEvents(rawBody: Uint8Array): ProviderEvent[] {
    return parseHookBody(rawBody)
  }
}
