/** Lists the newest messages between a store and its customers' phones, with rendered templates. */

import type { InboundData, Media, TemplateSend } from '#operations/messaging/index'
import { getSteps, templates } from '#operations/messaging/index'
import type { SystemContext } from '#runtime/context'

const shown = 40

interface Bubble {
  id: string
  phone: string
  /** False if the customer wrote the message. */
  isFromStore: boolean
  kind: string
  header: string | null
  media: { type: string; url: string; fileName: string | null } | null
  text: string | null
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null }[]
  /** Delivery status; null for messages of customers. */
  status: string | null
  /** The provider's id, which replies refer to. */
  providerMessageId: string | null
  at: string
}

type BubbleContent = Pick<Bubble, 'header' | 'media' | 'text' | 'footer' | 'buttons'>
type Sent = { text?: string | null; media?: Media } & Partial<TemplateSend>
type TemplateRow = Awaited<ReturnType<typeof findTemplates>>[number]

/** Lists the messages of both directions together, newest first. */
export async function listMessages(ctx: SystemContext, storeId: string): Promise<Bubble[]> {
  const [sent, written] = await Promise.all([listSent(ctx, storeId), listInbound(ctx, storeId)])
  return [...sent, ...written].sort((a, b) => b.at.localeCompare(a.at)).slice(0, shown)
}

async function listSent(ctx: SystemContext, storeId: string): Promise<Bubble[]> {
  const rows = await ctx.root
    .selectFrom('sandbox_messages')
    .select(['id', 'provider_message_id', 'phone', 'kind', 'content', 'stage', 'sent_at'])
    .where('store_id', '=', storeId)
    .orderBy('sent_at', 'desc')
    .orderBy('id', 'desc')
    .limit(shown)
    .execute()
  const contents = rows.map(({ content }) => content as Sent)
  const names = [...new Set(contents.flatMap(({ template }) => (template ? [template.name] : [])))]
  const known = names.length > 0 ? await findTemplates(ctx, storeId, names) : []
  return rows.map(({ id, phone, kind, stage, sent_at, provider_message_id }, at) => ({
    id,
    phone,
    isFromStore: true,
    kind,
    ...toBubbleContent(contents[at]!, known),
    status: getSteps(phone)[stage - 1]?.happens ?? 'sent',
    providerMessageId: provider_message_id,
    at: sent_at.toISOString(),
  }))
}

const findTemplates = (ctx: SystemContext, storeId: string, names: readonly string[]) =>
  ctx.root
    .selectFrom('message_templates')
    .select([
      'id',
      'name',
      'language',
      'category',
      'status',
      'header',
      'body',
      'footer',
      'buttons',
      'placeholders',
    ])
    .where('store_id', '=', storeId)
    .where('name', 'in', names)
    .execute()

function toBubbleContent(content: Sent, known: readonly TemplateRow[]): BubbleContent {
  const { text = null, media = null, template, parameters, headerMediaUrl, layout } = content
  const plain = { header: null, media, text, footer: null, buttons: [] }
  if (!template || !parameters) return plain
  const row = known.find(({ name, language }) => name === template.name && language === template.language)
  // The template is the service's own or was deleted: only its name and parameters are known.
  if (!row) return { ...plain, text: [template.name, ...parameters.body].join('\n') }
  const { header, body, footer, buttons } = templates.render(row as unknown as templates.Template, parameters)
  const type = layout?.headerMediaType ?? 'image'
  return {
    header,
    media: headerMediaUrl ? { type, url: headerMediaUrl, fileName: null } : null,
    text: body,
    footer,
    buttons,
  }
}

async function listInbound(ctx: SystemContext, storeId: string): Promise<Bubble[]> {
  const rows = await ctx.root
    .selectFrom('sandbox_inbounds')
    .select(['id', 'content', 'at'])
    .where('store_id', '=', storeId)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(shown)
    .execute()
  return rows.map(({ id, content, at }) => {
    const { kind, data } = content as { kind: string; data: InboundData }
    return {
      id,
      phone: data.phone,
      isFromStore: kind === 'echo',
      kind: data.type,
      header: null,
      media: null,
      text: data.text,
      footer: null,
      buttons: [],
      status: null,
      providerMessageId: data.providerMessageId,
      at: at.toISOString(),
    }
  })
}
