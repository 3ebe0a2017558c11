/**
 * Schemas that both validate input and are published in the documents. Only this file imports zod (text-lengths.ts
 * imports its type); all other files import `z` from here. Parsed values are plain JSON: instants and days stay text,
 * money is a number.
 */
import { z } from 'zod/v3'
import { countCodePoints } from '#runtime/text-lengths'
import {
  dayPattern,
  instantPattern,
  isInYears,
  isRealDay,
  isRealInstant,
  isRealMoment,
  isRealWallClock,
  momentPattern,
  offsetInstantPattern,
  wallClockPattern,
  yearsMessage,
} from '#runtime/values/days'
import { cleanEmail } from '#runtime/values/email'
import { amountAtMost } from '#runtime/values/money'

export { z }

countCodePoints(z)

const names = new WeakMap<z.ZodTypeAny, string>()

/** Names a schema: it is published once, as `#/components/schemas/<name>`. */
export function named<T extends z.ZodTypeAny>(
  name: string,
  schema: T,
  { volatileFields = [] }: { volatileFields?: readonly string[] } = {},
): T {
  names.set(schema, name)
  if (volatileFields.length > 0) volatileFieldsBySchema.set(schema, volatileFields)
  return schema
}

const volatileFieldsBySchema = new WeakMap<z.ZodTypeAny, readonly string[]>()
/**
 * The fields of a resource that change without a write by the caller (counters, results of jobs, reports of providers).
 * `If-Match` ignores them. A path such as `items.stock` names a field of a nested object, or of each object in a list.
 */
export const getVolatileFields = (schema: z.ZodTypeAny): readonly string[] =>
  volatileFieldsBySchema.get(schema) ?? []
export const getSchemaName = (schema: z.ZodTypeAny): string | undefined => names.get(schema)

const files = new WeakSet<z.ZodTypeAny>()

/**
 * Marks a field of a body as the content of a file. A control character in it makes only its row invalid, not the whole
 * request: the texts are checked when they are stored (`sanitizeCell`, `findTextIssue`).
 */
export function fileContent<T extends z.ZodTypeAny>(schema: T): T {
  files.add(schema)
  return schema
}
export const isFileContent = (schema: z.ZodTypeAny): boolean => files.has(schema)

const keepingEmpty = new WeakSet<z.ZodTypeAny>()

/** Marks a nullable text in which an empty text is no way to write null; everywhere else it is. */
export function keepEmpty<T extends z.ZodTypeAny>(schema: T): T {
  keepingEmpty.add(schema)
  return schema
}
export const keepsEmpty = (schema: z.ZodTypeAny): boolean => keepingEmpty.has(schema)

/** An object that refuses unknown fields. */
export const object = <T extends z.ZodRawShape>(shape: T) => z.object(shape).strict()

export const id = named('Id', z.string().uuid().describe('UUIDv7'))

/**
 * The only place that parses a caller's day or instant. Accepts existing dates in the years 2000 to 2100, for which
 * databases, clocks and text order agree. `npm run check` reports date patterns elsewhere. A birthday would need
 * another schema, since people were born before 2000.
 */
const dateSchema = (form: RegExp, example: string, isReal: (text: string) => boolean, unreal: string) =>
  z
    .string()
    .regex(form, `must be ${example}`)
    .superRefine((text, context) => {
      if (!form.test(text)) return
      const message = isReal(text) ? (isInYears(text) ? null : yearsMessage) : unreal
      if (message) context.addIssue({ code: 'custom', message })
    })
const noDay = 'is no day of the calendar'
const noTime = 'is no day and time of the calendar'

export const instant = named(
  'Instant',
  dateSchema(
    instantPattern,
    'an instant such as 2026-11-20T12:00:00.000Z',
    isRealInstant,
    'is no instant of the calendar',
  ).describe('ISO 8601 in UTC with milliseconds'),
)
/** An instant with `Z` or any offset, as a caller may write it; `new Date` parses it exactly. */
export const offsetInstant = dateSchema(
  offsetInstantPattern,
  'an instant such as 2026-11-20T12:00:00.000Z',
  isRealMoment,
  noTime,
).describe('ISO 8601 with `Z` or an offset such as -03:00')
/** An instant; or, without an offset, a wall clock time, whose zone the operation decides. */
export const moment = dateSchema(
  momentPattern,
  'a day and time such as 2026-12-01T10:00 or 2026-12-01T13:00:00Z',
  isRealMoment,
  noTime,
)
/** A day and a time without an offset. */
export const wallClock = dateSchema(
  wallClockPattern,
  'a day and time such as 2026-11-27T23:59',
  isRealWallClock,
  noDay,
)
/** A calendar day that exists, in the store's time zone. */
export const day = named(
  'Day',
  dateSchema(dayPattern, 'a day such as 2026-11-20', isRealDay, noDay).describe(
    "Calendar day (YYYY-MM-DD) in the store's time zone, in the years 2000 to 2100",
  ),
)
/** All day and instant schemas by name, for tests that try them wherever they are used. */
export const dateSchemas: ReadonlyMap<string, z.ZodTypeAny> = new Map<string, z.ZodTypeAny>(
  Object.entries({ day, instant, offsetInstant, moment, wallClock }),
)
const decimalWords = { 2: 'two', 4: 'four' }
/** The arguments of a refinement that limits decimals: `z.number().refine(...decimals(2))`. */
export const decimals = (most: keyof typeof decimalWords): [(value: number) => boolean, string] => [
  (value) => Math.abs(value * 10 ** most - Math.round(value * 10 ** most)) < 1e-6,
  `must have at most ${decimalWords[most]} decimals`,
]
const largestAmount = Number(amountAtMost)
const decimalAmount = (bounded: z.ZodNumber) =>
  bounded
    .refine(...decimals(2))
    .describe('Whole currency units, at most two decimals; none in a currency without, such as CLP')
const ofStore = new WeakSet<z.ZodTypeAny>()
const amount = (bounded: z.ZodNumber) => {
  const number = bounded.max(largestAmount)
  ofStore.add(number)
  return decimalAmount(number)
}
/** Whether a schema, as it is inside its wrappers, is an amount in the store's currency. */
export const isStoreAmount = (schema: z.ZodTypeAny): boolean => ofStore.has(schema)
/**
 * An amount in the currency of something else, such as an order, or a number that may also be per cent: the operation
 * itself refuses decimals that the currency has not (`findAmountIssue`).
 */
export const otherAmount = (bounded = z.number().min(-largestAmount)) =>
  decimalAmount(bounded.max(largestAmount))
export const money = named('Money', amount(z.number().min(-largestAmount)))
/** Amounts with a bound. The bound is not a refinement, so that the documents show it. */
export const moneyAtLeast0 = (refusal: string) => amount(z.number().min(0, refusal))
export const moneyOver0 = (refusal: string) => amount(z.number().gt(0, refusal))
export const moneyFromZero = moneyAtLeast0('must not be negative')
/** An amount in a query. */
export const queryMoneyOver0 = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,12}(\.\d{1,2})?$/.test(value) ? Number(value) : value),
  amount(z.number({ invalid_type_error: 'must be an amount such as 199.90' }).gt(0)),
)
/** ISO 4217 without metals and units of account. At the end: recently withdrawn currencies, which old orders use. */
const currencies = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP ' +
    'CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF ' +
    'IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD ' +
    'MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB ' +
    'RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD ' +
    'UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG ' +
    'ANG CUC HRK SLL ZWL'
  ).split(' '),
)
export const currency = named(
  'Currency',
  z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency such as BRL')
    .refine(
      (code) => !/^[A-Z]{3}$/.test(code) || currencies.has(code),
      'must be a currency that exists, such as BRL',
    )
    .describe('ISO 4217'),
)
const countries = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO ' +
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE ' +
    'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW ' +
    'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM ' +
    'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' '),
)
/** An existing country. A fixed list, since `Intl` also knows groups of countries and a placeholder. */
export const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be a country such as BR')
  .refine((code) => countries.has(code) || !/^[A-Z]{2}$/.test(code), 'must be a country such as BR')
  .describe('ISO 3166-1 alpha-2')
export const percent = z.number().min(0).max(100)
export const colour = named(
  'Colour',
  z.string().regex(/^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/, 'must be #rrggbb or #rrggbbaa'),
)
export const count = z.number().int().min(0)
export const httpsUrl = z
  .string()
  .max(2000)
  .regex(/^https:\/\/[^\s]+$/, 'must be an https address')
/** Text on one line, trimmed. */
export const line = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
    .regex(/^[^\r\n]*$/, 'must be one line')
/** Text of several lines, trimmed. */
export const text = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
/** The `search` of a list, in which a line break is a blank. `place`: the texts that are searched. */
export const searchText = (place: string, max = 120) =>
  text(1, max)
    .optional()
    .describe(
      `${place}. Finds all words, in any order and anywhere within a word; case, accents and invisible characters do not matter`,
    )
/** A phone as people and programs write it, which `requirePhone` parses. */
export const phone = z
  .string()
  .max(40)
  .describe(
    "Stored as E.164. A number without a prefix is one of the store's country; prefixes of programs (tel:), chat ids, links and 00 are understood",
  )
/** An email address as it was typed, without invisible characters; compared by `emailKey`. */
export const email = z.preprocess(
  (value) => (typeof value === 'string' && value.length <= 1000 ? cleanEmail(value) : value),
  z.string().trim().max(254).email('must be an email address'),
)
/** Parses an email address from a file or a form; null if it is invalid. */
export function readEmail(text: string): string | null {
  // biome-ignore lint/nursery/noJsRestrictedProperties: readEmail itself
  const read = email.safeParse(text)
  return read.success ? read.data : null
}
/**
 * An id or number as a shop's theme sends it: text, or a number up to the largest exact integer. A larger number may
 * have been rounded by the theme's script, and would then identify another thing.
 */
export const themeId = (max = 64) => {
  const sentence = 'must be text, or a whole number up to 9007199254740991: send larger ones as text'
  return z.preprocess(
    (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : value,
    z
      .string({ required_error: 'is required', invalid_type_error: sentence })
      .trim()
      .min(1, 'must not be empty')
      .max(max, `must have at most ${max} characters`),
  )
}
/** A JSON object with some known fields; callers may add any others. */
export const openObject = <T extends z.ZodRawShape>(shape: T) => object(shape).catchall(z.unknown())

/** A JSON object with any fields. */
export const freeObject = z.record(z.unknown()).describe('Free JSON object')

/** A query parameter `true` or `false`. Parameters arrive as text; this parses them and is published as a boolean. */
export const queryFlag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean({ invalid_type_error: 'must be true or false' }),
)
const wholeNumber = /^-?\d+$/
export const queryInt = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && wholeNumber.test(value) ? Number(value) : value),
    z.number({ invalid_type_error: 'must be a whole number' }).int().min(min).max(max),
  )
/** Removes duplicates from a list. */
const deduplicate = (value: unknown): unknown => (Array.isArray(value) ? [...new Set(value)] : value)

/** A list whose order and duplicates do not matter; duplicates are removed. */
export const setOf = <T extends z.ZodTypeAny>(item: T, max: number, min = 0) =>
  z.preprocess(deduplicate, z.array(item).min(min).max(max)) as z.ZodEffects<
    z.ZodArray<T>,
    z.output<T>[],
    z.input<T>[]
  >

/** A list in the query: `a,b` or a repeated parameter; blanks around an entry do not count. */
export const queryList = <T extends z.ZodTypeAny>(item: T, max = 50) =>
  z.preprocess((value) => {
    if (value === undefined) return value
    const texts = Array.isArray(value) ? value : [value]
    return deduplicate(
      texts.flatMap((each) =>
        typeof each === 'string'
          ? each
              .split(',')
              .map((part) => part.trim())
              .filter(Boolean)
          : [each],
      ),
    )
  }, z.array(item).min(1, 'must name at least one').max(max))
/** `page` and `limit` of a list. */
export const paging = {
  page: queryInt(1, 100_000).default(1).describe('Page, from 1'),
  limit: queryInt(1, 100).default(20).describe('Rows a page, at most 100'),
}

/** A page of a list, newest first unless the operation says otherwise. */
export const listOf = <T extends z.ZodTypeAny>(item: T) =>
  object({
    data: z.array(item),
    page: z.number().int(),
    limit: z.number().int(),
    total: count.describe('Rows on all pages'),
  })

/**
 * The query of a list with cursor pagination: its filters, and `page` or `cursor`, not both. `page` has no default
 * here: otherwise a request with only a `cursor` would seem to have both.
 */
export const cursorQuery = <T extends z.ZodRawShape>(filters: T) =>
  object({
    page: paging.page.removeDefault().optional().describe('Page, from 1'),
    limit: paging.limit,
    cursor: z.string().max(500).optional().describe('Where the answer before ended'),
    ...filters,
  }).superRefine(({ page, cursor }: { page?: unknown; cursor?: unknown }, context) => {
    if (page === undefined || cursor === undefined) return
    const message = 'cannot be combined with page: leave page out'
    context.addIssue({ code: 'custom', path: ['cursor'], message })
  })

/** A page of a list with cursor pagination. */
export const cursorListOf = <T extends z.ZodTypeAny>(item: T) =>
  listOf(item)
    .extend({
      page: z.number().int().nullable().describe('null with a cursor'),
      nextCursor: z.string().nullable().describe('Goes on after this page; null on the last one'),
    })
    .strict()

/** A short list that is returned without pages. */
export const wholeListOf = <T extends z.ZodTypeAny>(item: T) => object({ data: z.array(item) })

/** The answer of an operation that queues work. */
export const queued = <T extends z.ZodRawShape>(shape: T) =>
  object({ jobId: z.string(), status: z.literal('queued'), ...shape })

/** Parameters that every export takes. */
export const exportOptions = {
  forExcel: queryFlag
    .optional()
    .describe('true: phones and long numbers are written as `="+55…"`, which Excel does not change'),
}

/** The answer of an export. */
export const exportQueued = named(
  'ExportQueued',
  queued({ email: z.string().describe('Where the CSV will be sent') }),
)

/**
 * The schema of every read-only field in a body. It is recognised by identity, so that an object derived by `extend`,
 * `omit` or `partial` still ignores the field.
 */
const ignoredField = z
  .unknown()
  .describe('Read-only: accepted when a read is sent back, and ignored')
  .optional()

/**
 * The body of a write: the resource's writable fields, which are optional except the `required` ones, and its read-only
 * fields, which are accepted and dropped so that a caller can send back what it has read. This also holds if the body
 * is nested in another one.
 */
export function writeBody<W extends z.ZodRawShape, R extends keyof W & string = never>(
  writable: W,
  readOnly: readonly string[],
  required: readonly R[] = [],
) {
  const optional = Object.fromEntries(
    Object.entries(writable).map(([key, schema]) => [
      key,
      required.includes(key as R) ? schema : (schema as z.ZodTypeAny).optional(),
    ]),
  ) as { [K in keyof W]: K extends R ? W[K] : z.ZodOptional<W[K]> }
  const ignored = Object.fromEntries(readOnly.map((key) => [key, ignoredField]))
  return z.object({ ...ignored, ...optional } as typeof optional).strict()
}

const isIgnored = (schema: z.ZodTypeAny): boolean =>
  schema === ignoredField || (schema instanceof z.ZodOptional && isIgnored(schema.unwrap()))

const ignoredKeysCache = new WeakMap<z.ZodTypeAny, ReadonlySet<string>>()
const none: ReadonlySet<string> = new Set()

/** The fields of an object that are accepted and dropped. */
export function ignoredKeys(schema: z.ZodTypeAny): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject)) return none
  let keys = ignoredKeysCache.get(schema)
  if (!keys) {
    const fields = Object.entries(schema.shape as z.ZodRawShape)
    keys = new Set(fields.filter(([, field]) => isIgnored(field)).map(([key]) => key))
    ignoredKeysCache.set(schema, keys)
  }
  return keys
}
