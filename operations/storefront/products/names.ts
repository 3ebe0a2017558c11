/** Names of products with their variants. */

const toWords = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

/** Whether a product's name already has its variant as words: `Moletom` does not name `M`. */
export const containsVariant = (name: string, variantName: string): boolean =>
  toWords(name).includes(toWords(variantName))

/** The product name with its variant, unless the name contains it. */
export const nameWithVariant = (name: string, variantName: string | null | undefined): string =>
  variantName && !containsVariant(name, variantName) ? `${name}, ${variantName}` : name
