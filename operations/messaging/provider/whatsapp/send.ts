/** Messages in the Cloud API's form. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { asParameter } from '#runtime/values/variables'
import type { Accepted, Media, Send, TemplateSend } from '../port.ts'
import type { Graph } from './graph.ts'
import type { ServerNumber, WhatsappCredentials } from './options.ts'

type Content = Record<string, unknown>

const acceptedShape = z.object({ messages: z.array(z.object({ id: z.string().min(1) })).min(1) })

/** The number that a message leaves through, and its token. */
export function senderOf(graph: Graph, store: ProviderStore, via: Send['via']): ServerNumber {
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
  const { numberId, accessToken } = senderOf(graph, store, message.via)
  const answer = await graph.send({
    method: 'POST',
    path: `${numberId}/messages`,
    token: accessToken,
    body: {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...recipientOf(message.phone),
      ...(message.replyTo ? { context: { message_id: message.replyTo } } : {}),
      biz_opaque_callback_data: message.idempotencyKey,
      ...content,
    },
  })
  const read = acceptedShape.safeParse(answer)
  if (!read.success) throw new Unavailable('unknown', 'The provider answered without an id for the message')
  return { providerMessageId: read.data.messages[0]!.id }
}

/** An id in `to` is answered like a message that left, and dropped. */
const recipientOf = (address: string): Content =>
  address.startsWith('+') ? { to: address.slice(1) } : { recipient: address }

export const textContent = (text: string): Content => ({
  type: 'text',
  text: { body: text, preview_url: /https?:\/\//.test(text) },
})

/** A store's text on the shared number, to who has not written: a parameter of the service's own template. */
export const sharedContent = (template: { name: string; language: string }, text: string): Content =>
  templateBody(template, [{ type: 'body', parameters: texts([text]) }])

export const mediaContent = (media: Media, caption: string | null): Content => ({
  type: media.type,
  [media.type]: {
    link: media.url,
    ...(caption && media.type !== 'audio' ? { caption } : {}),
    ...(media.type === 'document' && media.fileName ? { filename: media.fileName } : {}),
  },
})

const texts = (values: readonly string[]) =>
  values.map((value) => ({ type: 'text', text: asParameter(value) }))

export function templateContent({ template, parameters, headerMediaUrl, layout }: TemplateSend): Content {
  const { headerMediaType: type, dynamicButtons } = layout
  const header = parameters.header.length > 0 ? texts(parameters.header) : []
  const media = type && headerMediaUrl ? [{ type, [type]: { link: headerMediaUrl } }] : []
  const components = [
    { type: 'header', parameters: media.length > 0 ? media : header },
    { type: 'body', parameters: texts(parameters.body) },
    ...dynamicButtons.map(({ index, type: button }, i) => {
      const value = parameters.buttons[i] ?? ''
      return {
        type: 'button',
        sub_type: button === 'url' ? 'url' : 'copy_code',
        index: String(index),
        parameters: [
          button === 'url'
            ? { type: 'text', text: asParameter(value) }
            : { type: 'coupon_code', coupon_code: asParameter(value) },
        ],
      }
    }),
  ]
  return templateBody(
    template,
    components.filter((component) => component.parameters.length > 0),
  )
}

const templateBody = (template: { name: string; language: string }, components: unknown[]): Content => ({
  type: 'template',
  template: {
    name: template.name,
    language: { code: template.language },
    ...(components.length > 0 ? { components } : {}),
  },
})
