/** Builds messages in the Cloud API's format. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { toParameter } from '#runtime/values/variables'
import type { Accepted, Media, Send, TemplateSend } from '../port.ts'
import type { Graph } from './graph.ts'
import type { ServerNumber, WhatsappCredentials } from './options.ts'

type Content = Record<string, unknown>

const acceptedShape = z.object({ messages: z.array(z.object({ id: z.string().min(1) })).min(1) })

/** The number that a message leaves through, and its token. */
export function findSender(graph: Graph, store: ProviderStore, via: Send['via']): ServerNumber {
  const { shared, assistant } = graph.options
  const number =
    via === 'official'
      ? (store.credentials as WhatsappCredentials | null)
      : via === 'shared'
        ? shared
        : via === 'assistant'
          ? assistant
          : null
  if (!number) throw new Refused('disconnected', 'The provider has no such number')
  return number
}

export async function sendMessage(
  graph: Graph,
  store: ProviderStore,
  message: Send,
  content: Content,
): Promise<Accepted> {
  const { numberId, accessToken } = findSender(graph, store, message.via)
  const answer = await graph.send({
    method: 'POST',
    path: `${numberId}/messages`,
    token: accessToken,
    body: {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...toRecipient(message.phone),
      ...(message.replyTo ? { context: { message_id: message.replyTo } } : {}),
      biz_opaque_callback_data: message.idempotencyKey,
      ...content,
    },
  })
  const read = acceptedShape.safeParse(answer)
  if (!read.success) throw new Unavailable('unknown', 'The provider answered without an id for the message')
  return { providerMessageId: read.data.messages[0]!.id }
}

/** A provider's id belongs in `recipient`: in `to`, the API would accept the message and then drop it. */
const toRecipient = (address: string): Content =>
  address.startsWith('+') ? { to: address.slice(1) } : { recipient: address }

export const buildTextContent = (text: string): Content => ({
  type: 'text',
  text: { body: text, preview_url: /https?:\/\//.test(text) },
})

/** Wraps a store's text on the shared number in the service's own template, if the window is closed. */
export const buildSharedContent = (template: { name: string; language: string }, text: string): Content =>
  buildTemplateBody(template, [{ type: 'body', parameters: toTextParameters([text]) }])

export const buildMediaContent = (media: Media, caption: string | null): Content => ({
  type: media.type,
  [media.type]: {
    link: media.url,
    ...(caption && media.type !== 'audio' ? { caption } : {}),
    ...(media.type === 'document' && media.fileName ? { filename: media.fileName } : {}),
  },
})

const toTextParameters = (values: readonly string[]) =>
  values.map((value) => ({ type: 'text', text: toParameter(value) }))

export function buildTemplateContent({
  template,
  parameters,
  headerMediaUrl,
  layout,
}: TemplateSend): Content {
  const { headerMediaType: type, dynamicButtons } = layout
  const header = parameters.header.length > 0 ? toTextParameters(parameters.header) : []
  const media = type && headerMediaUrl ? [{ type, [type]: { link: headerMediaUrl } }] : []
  const components = [
    { type: 'header', parameters: media.length > 0 ? media : header },
    { type: 'body', parameters: toTextParameters(parameters.body) },
    ...dynamicButtons.map(({ index, type: button }, i) => {
      const value = parameters.buttons[i] ?? ''
      return {
        type: 'button',
        sub_type: button === 'url' ? 'url' : 'copy_code',
        index: String(index),
        parameters: [
          button === 'url'
            ? { type: 'text', text: toParameter(value) }
            : { type: 'coupon_code', coupon_code: toParameter(value) },
        ],
      }
    }),
  ]
  return buildTemplateBody(
    template,
    components.filter((component) => component.parameters.length > 0),
  )
}

const buildTemplateBody = (template: { name: string; language: string }, components: unknown[]): Content => ({
  type: 'template',
  template: {
    name: template.name,
    language: { code: template.language },
    ...(components.length > 0 ? { components } : {}),
  },
})
