import fc from 'fast-check'

/**
 * Currencies with two decimals, without decimals, with three (of which two are kept), and some that `Intl` writes
 * without their decimals.
 */
export const currencies = fc.constantFrom('BRL', 'CLP', 'JPY', 'PYG', 'VND', 'KWD', 'IQD', 'COP', 'HUF')
