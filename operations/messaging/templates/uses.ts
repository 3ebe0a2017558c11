/** Finds the uses of a template; each section contributes a query. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import type { MergedExtensions } from '#runtime/extensions'

export interface Placeholders {
  header: number
  body: number
  buttons: number
}

/**
 * Builds a query for the uses of a template. Its column `name` describes the place, such as `the campaign Summer sale`.
 * `templateId` is a column or a value of the enclosing query. With `placeholders`, the query finds only uses with a
 * different number of parameters.
 */
export type TemplateUse = (
  db: Kysely<TenantTables>,
  templateId: RawBuilder<number>,
  placeholders?: Placeholders,
  // biome-ignore lint/suspicious/noExplicitAny: the builder's type names the tables of the section
) => SelectQueryBuilder<any, any, { name: string }>

/** SQL condition: whether the number of parameters in a JSON value differs from the placeholders. */
export const isMiscounted = (parameters: RawBuilder<unknown>, placeholders: Placeholders) => {
  const differs = (['header', 'body', 'buttons'] as const).map(
    (part) =>
      sql`coalesce(jsonb_array_length(${parameters} -> ${sql.lit(part)}), 0) <> ${placeholders[part]}::int`,
  )
  return sql<boolean>`(${sql.join(differs, sql` or `)})`
}

/** SQL condition: whether a template is used. */
export function isUsed(
  db: Kysely<TenantTables>,
  templateId: RawBuilder<number>,
  { templateUses }: MergedExtensions,
): RawBuilder<boolean> {
  if (templateUses.length === 0) return sql<boolean>`false`
  const found = templateUses.map((use) => sql`exists (${use(db, templateId)})`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** Describes the first few uses; with `placeholders`, only uses that no longer fit them. */
export async function findUses(
  ctx: Context,
  templateId: number,
  placeholders?: Placeholders,
): Promise<string[]> {
  const names: string[] = []
  for (const use of ctx.extensions.templateUses) {
    const rows = await use(ctx.db, sql<number>`${templateId}::int`, placeholders).limit(3).execute()
    for (const row of rows) names.push(row.name)
  }
  return names
}
