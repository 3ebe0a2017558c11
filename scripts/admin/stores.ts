/** Manages stores and people from command lines, without a key and without tenant isolation. */
import { sql } from 'kysely'
import type { Database, RootDatabase } from '#db/database'
import type { MemberRole } from '#operations/store/enums'
import { isLocale, isTimezone } from '#operations/store/profile/locality'
import type { StoreSummary } from '#operations/store/profile/stores'
import { refuse } from '#runtime/errors'
import { colour, country, currency, email, httpsUrl, line, object, z } from '#runtime/schema'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { isId, newId } from '#runtime/values/ids'

/** Options of a new store. */
export const newStoreInput = object({
  slug: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be lower-case letters, digits and hyphens, at most 63',
    ),
  name: line(1, 120),
  owner: email,
  country,
  currency,
  timezone: z.string().refine(isTimezone, (value) => ({
    message: `${value} is no time zone: use one such as America/Sao_Paulo`,
  })),
  locale: z
    .string()
    .refine(isLocale, (value) => ({ message: `${value} is no language tag: use one such as pt-BR` }))
    .optional(),
})

/** Options of a person. */
export const memberInput = object({ email, name: line(1, 120) })

const optional = <T extends z.ZodTypeAny>(schema: T) => schema.nullable().optional()
/** Options of an agency. */
export const agencyInput = object({ name: line(1, 120) })

/** The JSON file of an agency's branding. */
export const brandingInput = object({
  logoUrl: optional(httpsUrl),
  faviconUrl: optional(httpsUrl),
  primaryColor: optional(colour),
  secondaryColor: optional(colour),
  supportEmail: optional(email),
  supportPhone: optional(line(1, 40)),
  supportUrl: optional(httpsUrl),
  dashboardDomain: optional(line(1, 253)),
  hideServiceBrand: z.boolean().optional(),
})
export type BrandingInput = z.infer<typeof brandingInput>

const summaries = (root: RootDatabase) =>
  root
    .selectFrom('stores as s')
    .innerJoin('subscriptions as b', 'b.store_id', 's.id')
    .select(['s.id', 's.slug', 's.public_id as publicId', 's.name', 'b.plan_id as plan'])

/** Every store, by slug. */
export const listStores = (database: Database): Promise<StoreSummary[]> =>
  summaries(database.root).orderBy('s.slug').execute()

/** Finds a store by id, slug or domain. Refuses an unknown one. */
export async function requireStore(database: Database, text: string): Promise<StoreSummary> {
  const found = await summaries(database.root)
    .where((eb) =>
      eb.or([
        eb('s.slug', '=', text),
        eb('s.domain', '=', text.toLowerCase()),
        ...(isId(text) ? [eb('s.id', '=', text)] : []),
      ]),
    )
    .orderBy((eb) => eb('s.slug', '=', text), 'desc')
    .executeTakeFirst()
  if (!found) throw refuse('not_found', `store: there is no store ${text} (an id, slug or domain)`)
  return found
}

/** Changes the role of a member. Refuses non-members, and a change that would leave the store without an owner. */
export async function setRole(
  database: Database,
  now: Date,
  storeId: string,
  member: { email: string; role: MemberRole },
): Promise<{ userId: string; email: string; role: MemberRole }> {
  return database.root.transaction().execute(async (transaction) => {
    await transaction.selectFrom('stores').select('id').where('id', '=', storeId).forUpdate().execute()
    const people = await transaction
      .selectFrom('store_people')
      .select([
        'user_id',
        'email',
        'role',
        sql<boolean>`${emailKeySql('email')} = ${emailKey(member.email)}`.as('is_theirs'),
      ])
      .where('store_id', '=', storeId)
      .where('removed_at', 'is', null)
      .execute()
    const found = people.find((each) => each.is_theirs)
    if (!found) throw refuse('not_found', `email: ${member.email} is not a member of this store`)
    const owners = people.filter((each) => each.role === 'owner')
    if (found.role === 'owner' && member.role !== 'owner' && owners.length === 1) {
      throw refuse('conflict', 'This is the last owner: make somebody else an owner first')
    }
    if (found.role !== member.role) {
      await transaction
        .updateTable('memberships')
        .set({ role: member.role, updated_at: now })
        .where('store_id', '=', storeId)
        .where('user_id', '=', found.user_id)
        .execute()
    }
    return { userId: found.user_id, email: found.email, role: member.role }
  })
}

/** Assigns the store to the agency with this name, created if missing. A given branding replaces the agency's. */
export async function setAgency(
  database: Database,
  now: Date,
  storeId: string,
  agency: { name: string; branding: BrandingInput | null },
): Promise<{ agencyId: string; name: string }> {
  const { name, branding } = agency
  return database.root.transaction().execute(async (transaction) => {
    const { id } = await transaction
      .insertInto('agencies')
      .values({
        id: newId(now.getTime()),
        name,
        branding: JSON.stringify(branding ?? {}),
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(branding ? { branding: JSON.stringify(branding), updated_at: now } : { name }),
      )
      .returning('id')
      .executeTakeFirstOrThrow()
    await transaction
      .updateTable('stores')
      .set({ agency_id: id, updated_at: now })
      .where('id', '=', storeId)
      .where((eb) => eb.or([eb('agency_id', 'is', null), eb('agency_id', '!=', id)]))
      .execute()
    return { agencyId: id, name }
  })
}
