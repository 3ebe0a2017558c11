/** Decimal text such as `249.90`. */
export type Money = string
