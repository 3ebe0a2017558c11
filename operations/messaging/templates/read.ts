/** Approved templates, for the sections that send them. */
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { toParameter } from '#runtime/values/variables'
import {
  countTemplatePlaceholders,
  describeMiscount,
  fillTemplate,
  type Parameters,
  type Rendered,
} from './content.ts'

export { isMiscounted, type Placeholders, type TemplateUse } from './uses.ts'
export type { Rendered }
export { describeMiscount }

export interface Template {
  id: number
  name: string
  language: string
  category: string
  status: string
  header: {
    type: 'text' | 'image' | 'video' | 'document' | 'location'
    text: string | null
    mediaUrl: string | null
  } | null
  body: string
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null; phone: string | null }[]
  placeholders: { header: number; body: number; buttons: number }
}

const byId = prepared((db, values: { id: number }) =>
  db
    .selectFrom('message_templates')
    .select(['id', 'name', 'language', 'category', 'status', 'header', 'body', 'footer', 'buttons'])
    .where('id', '=', values.id),
)

/** A template of the store, or null. */
export async function get(ctx: Context, id: number): Promise<Template | null> {
  if (!Number.isSafeInteger(id) || id < 1 || id > 2_147_483_647) return null
  const [row] = await byId(ctx, { id })
  if (!row) return null
  const header = row.header as Template['header']
  const buttons = row.buttons as Template['buttons']
  return {
    ...row,
    header,
    buttons,
    placeholders: countTemplatePlaceholders({ header, body: row.body, footer: row.footer, buttons }),
  }
}

/** Refuses too few or too many parameters. The error names the part below `field`, such as `<field>.body`. */
export function refuseMiscounted(template: Template, parameters: Parameters, field: string): void {
  const wrong = describeMiscount(template, parameters)
  if (wrong) throw refuse('bad_request', `${field}.${wrong.part}: ${wrong.fault}`)
}

/**
 * Normalizes entered parameters for the network. Refuses too few or too many parameters, and a parameter that becomes
 * empty. The error names the part below `field`, such as `<field>.body.0`.
 */
export function fitParameters<P extends Parameters>(template: Template, given: P, field: string): P {
  refuseMiscounted(template, given, field)
  const parts = given as Parameters
  const entries = Object.entries(parts).map(([part, values]) => [part, values?.map(toParameter)] as const)
  for (const [part, values] of entries) {
    const empty = values?.indexOf('') ?? -1
    if (empty >= 0) throw refuse('bad_request', `${field}.${part}.${empty}: must not be blank`)
  }
  return Object.fromEntries(entries) as unknown as P
}

export function render(
  template: Template,
  parameters: { header: string[]; body: string[]; buttons: string[] },
): Rendered {
  return fillTemplate(template, parameters)
}
