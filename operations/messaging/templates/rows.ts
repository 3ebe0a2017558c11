/** Reads and locks template rows, and converts them from and to content. */
import type { NewRow, Row } from '#db/tables'
import type { Context } from '#runtime/context'
import type { TemplateContent } from '../provider/template-port.ts'
import { countTemplatePlaceholders } from './content.ts'
import { toNotFound } from './json.ts'

export type TemplateRow = Row<'message_templates'>

export function toContent(row: TemplateRow): TemplateContent {
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

/** The columns of a content, with its placeholders counted. */
export function toColumns(
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
    placeholders: JSON.stringify(countTemplatePlaceholders(content)),
  }
}

/** Refuses an unknown template. */
export async function findTemplate(ctx: Context, id: number): Promise<TemplateRow> {
  const row = await ctx.db.selectFrom('message_templates').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw toNotFound()
  return row
}
