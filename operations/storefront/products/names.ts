/** Names of products with their variants. */

const toWords = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

/** The product name with its variant, unless the name has it as words: `Moletom` does not name `M`. */
export const nameWithVariant = (name: string, variantName: string | null | undefined): string =>
  variantName && !toWords(name).includes(toWords(variantName)) ? `${name}, ${variantName}` : name
