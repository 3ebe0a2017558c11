/** Who sends a template: each section says where it looks. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import type { Wired } from '#runtime/wiring'

export interface Placeholders {
  header: number
  body: number
  buttons: number
}

/**
 * The uses of a template as a query whose column `name` says where, such as `the campaign Summer sale`. `templateId`
 * is a column or a value of the query it stands in. With `placeholders` only the uses that fill in another number of
 * them than these, for whom the template changed.
 */
export type TemplateUse = (
  db: Kysely<TenantTables>,
  templateId: RawBuilder<number>,
  placeholders?: Placeholders,
  // biome-ignore lint/suspicious/noExplicitAny: the builder's type names the tables of the section
) => SelectQueryBuilder<any, any, { name: string }>

/** Whether the parameters at a place of some JSON are not as many as the placeholders. */
export const isMiscounted = (parameters: RawBuilder<unknown>, placeholders: Placeholders) => {
  const differs = (['header', 'body', 'buttons'] as const).map(
    (part) =>
      sql`coalesce(jsonb_array_length(${parameters} -> ${sql.lit(part)}), 0) <> ${placeholders[part]}::int`,
  )
  return sql<boolean>`(${sql.join(differs, sql` or `)})`
}

/** Whether something uses it, as an expression. */
export function isUsed(
  db: Kysely<TenantTables>,
  templateId: RawBuilder<number>,
  { templateUses }: Wired,
): RawBuilder<boolean> {
  if (templateUses.length === 0) return sql<boolean>`false`
  const found = templateUses.map((use) => sql`exists (${use(db, templateId)})`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** Where it is used, in words; the first few. With `placeholders`: where it no longer fits. */
export async function usesOf(
  ctx: Context,
  templateId: number,
  placeholders?: Placeholders,
): Promise<string[]> {
  const names: string[] = []
  for (const use of ctx.wired.templateUses) {
    const rows = await use(ctx.db, sql<number>`${templateId}::int`, placeholders).limit(3).execute()
    for (const row of rows) names.push(row.name)
  }
  return names
}
