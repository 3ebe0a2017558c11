/** Decimal text, `249.90`. */
export type Money = string
