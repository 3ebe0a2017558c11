import type { Context } from '#runtime/context'
import type { JsonText } from '#runtime/operation'
import { parseTemplateId } from '../templates/json.ts'
import { findTemplate, toContent } from '../templates/rows.ts'
import type { Parameters } from './content.ts'
import { sendOne } from './send.ts'

/** Sends a template to one phone. Refuses an unknown template. */
export async function testTemplate(
  ctx: Context,
  idText: string,
  input: {
    phone: string
    templateParameters?: { [K in keyof Parameters]?: string[] | undefined } | null | undefined
  },
): Promise<JsonText> {
  const id = parseTemplateId(idText)
  const { examples } = toContent(await findTemplate(ctx, id))
  const given = input.templateParameters ?? {}
  const parameters: Parameters = {
    header: given.header ?? examples.header,
    body: given.body ?? examples.body,
    buttons: given.buttons ?? examples.buttons,
  }
  return sendOne(ctx, {
    purpose: 'template-test',
    phone: input.phone,
    content: { kind: 'template', templateId: id, parameters, media: null },
    via: 'official',
  })
}
