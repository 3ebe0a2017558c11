/** Counts phones of other countries: a file that has many may have been misread. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Entry } from './entries.ts'

/** Distinguishes countries with one calling code, such as the United States and Canada, by the number's area. */
export const countForeignPhones = (entries: readonly Entry[], country: string): number =>
  entries.filter((entry) => {
    const found = 'phone' in entry ? parsePhoneNumberFromString(entry.phone)?.country : undefined
    return found !== undefined && found !== country
  }).length
