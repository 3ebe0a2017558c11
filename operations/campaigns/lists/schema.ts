import { count, id, instant, line, listOf, named, object, queued, writeBody, z } from '#runtime/schema'
import { customerFilters, importKind, listImport, newsletterFilters } from './import-schema.ts'

export const listName = line(1, 120)

export const listSource = z.enum(['manual', ...importKind.options])
export type ListSource = z.infer<typeof listSource>

export const contactList = named(
  'ContactList',
  object({
    id,
    name: listName,
    source: listSource.describe('How the list was created'),
    filters: z
      .union([customerFilters, newsletterFilters])
      .nullable()
      .describe('What it was built with (ecomplatform, newsletter)'),
    size: count.describe('Contacts in it'),
    optedOut: count.describe('Of these, how many are opted out now'),
    customFieldNames: z.array(z.string()).describe('Custom fields that its contacts have'),
    import: listImport.nullable().describe('The latest import or sync'),
    lastSyncedAt: instant.nullable().describe('End of the last completed platform import or sync'),
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['size', 'optedOut', 'customFieldNames', 'import', 'lastSyncedAt', 'updatedAt'] },
)
export const contactLists = listOf(contactList)

const readOnly = Object.keys(contactList.shape).filter((key) => key !== 'name')
export const newListBody = writeBody({ name: listName }, readOnly, ['name'])
export const changedListBody = writeBody({ name: listName }, readOnly)

/** The response of operations that queue an import. */
export const importQueued = named('ImportQueued', queued({ listId: id }))
