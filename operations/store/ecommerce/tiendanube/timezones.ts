/** The time zones of the countries where Tiendanube has shops, because it does not say a shop's. */
const timezones: Readonly<Record<string, string>> = {
  AR: 'America/Argentina/Buenos_Aires',
  BR: 'America/Sao_Paulo',
  CL: 'America/Santiago',
  CO: 'America/Bogota',
  MX: 'America/Mexico_City',
  PE: 'America/Lima',
  UY: 'America/Montevideo',
}

/** The time zone of most people in the country. */
export const toTimezone = (country: string): string => timezones[country] ?? 'America/Sao_Paulo'
