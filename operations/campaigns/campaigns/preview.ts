/** Renders the preview of a campaign for one contact. */
import { sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { noCampaign } from '../json.ts'
import { isInList } from '../lists/contacts.ts'
import type { CampaignContent, CampaignPreview } from '../schema.ts'
import { findNobodyReason } from '../sending/readiness.ts'
import {
  buildValues,
  type Recipient,
  type Rendered,
  renderMessage,
  selectMedia,
  type Template,
} from '../sending/render.ts'

type Sample = Recipient & { id: string | null }

/** The contact to preview with if the campaign's list has no contacts. */
const builtInSample: Sample = {
  id: null,
  phone: '+5511999998888',
  name: 'Maria Silva',
  email: null,
  custom_fields: {},
}

/**
 * Renders the campaign for `contactId`, by default for the oldest contact of the list. An empty list gets a made-up
 * contact.
 */
export async function previewCampaign(
  ctx: Context,
  id: string,
  contactId: string | undefined,
): Promise<CampaignPreview> {
  const existing = ctx.db
    .selectFrom('campaigns')
    .select(['list_id', 'content'])
    .where('deleted_at', 'is', null)
  const campaign = await requireRow(existing, id, noCampaign)
  const sample = await findSample(ctx, campaign.list_id, contactId)
  const content = campaign.content as CampaignContent
  const template = await findTemplate(ctx, content)
  const connection = await sending.findSelected(ctx)
  const rendered = renderMessage(content, template, connection, buildValues(sample, ctx.store))
  const { skip } = rendered
  const findObstacles = async (): Promise<Pick<CampaignPreview, 'skipReason' | 'nobodyReason'>> => {
    if (!skip) return {}
    const nobody =
      campaign.list_id === null
        ? null
        : await findNobodyReason(ctx, campaign.list_id, content, template, connection)
    return { skipReason: skip, ...(nobody && { nobodyReason: nobody }) }
  }
  return {
    type: content.type,
    ...toPreviewParts(content, template, rendered),
    sample: { contactId: sample.id, name: sample.name, phone: sample.phone },
    missingVariables: rendered.missing,
    ...(await findObstacles()),
  }
}

function toPreviewParts(
  content: CampaignContent,
  template: Template | null,
  { content: outgoing, text }: Rendered,
): Pick<CampaignPreview, 'header' | 'text' | 'footer' | 'buttons' | 'media'> {
  if (!template || outgoing.kind === 'text') {
    return { header: null, text, footer: null, buttons: [], media: content.media }
  }
  const { header, body, footer, buttons } = templates.render(template, outgoing.parameters)
  return { header, text: body, footer, buttons, media: selectMedia(content, template) }
}

async function findSample(
  ctx: Context,
  listId: string | null,
  contactId: string | undefined,
): Promise<Sample> {
  const found =
    listId === null
      ? undefined
      : await ctx.db
          .selectFrom('list_contacts')
          .select(['id', 'phone', 'name', 'email', 'custom_fields'])
          .$if(contactId === undefined, (query) => query.where('list_id', '=', listId))
          .$if(contactId !== undefined, (query) => query.where('id', '=', contactId!).where(isInList(listId)))
          .orderBy('id')
          .limit(1)
          .executeTakeFirst()
  if (found) return found as Sample
  if (contactId === undefined) return builtInSample
  throw refuse('not_found', "contactId: there is no such contact in the campaign's list")
}

async function findTemplate(ctx: Context, content: CampaignContent): Promise<Template | null> {
  if (content.type === 'text') {
    if (content.text === null)
      throw refuse('conflict', 'The campaign has no text yet: write content.text first')
    return null
  }
  if (content.officialapiTemplateId === null) {
    throw refuse('conflict', 'The campaign has no template yet: choose content.officialapiTemplateId first')
  }
  const template = await templates.get(ctx, content.officialapiTemplateId)
  if (!template) {
    throw refuse('conflict', 'The template of the campaign is no longer there: choose another one')
  }
  return template
}
