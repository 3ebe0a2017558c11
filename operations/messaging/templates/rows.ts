/** Rows of templates: read, locked, made from content. */
import type { NewRow, Row } from '#db/tables'
import type { Context } from '#runtime/context'
import type { TemplateContent } from '../provider/template-port.ts'
import { placeholdersOf } from './content.ts'
import { noTemplate } from './json.ts'

export type TemplateRow = Row<'message_templates'>

export function contentOf(row: TemplateRow): TemplateContent {
  return {
    name: row.name,
    language: row.language,
    category: row.category,
    header: row.header as TemplateContent['header'],
    body: row.body,
    footer: row.footer,
    buttons: row.buttons as TemplateContent['buttons'],
    examples: {
      header: [],
      body: [],
      buttons: [],
      ...(row.examples as Partial<TemplateContent['examples']>),
    },
  }
}

/** The columns of a content, its placeholders counted. */
export function contentColumns(
  content: TemplateContent,
): Pick<
  NewRow<'message_templates'>,
  'category' | 'header' | 'body' | 'footer' | 'buttons' | 'examples' | 'placeholders'
> {
  return {
    category: content.category,
    header: content.header && JSON.stringify(content.header),
    body: content.body,
    footer: content.footer,
    buttons: JSON.stringify(content.buttons),
    examples: JSON.stringify(content.examples),
    placeholders: JSON.stringify(placeholdersOf(content)),
  }
}

/** Refuses one that there is not. */
export async function findTemplate(ctx: Context, id: number): Promise<TemplateRow> {
  const row = await ctx.db.selectFrom('message_templates').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw noTemplate()
  return row
}
