/** Who uses the file that the shipping label of a request lies in, where it is one of ours. */
export const labelOwner = (requestId: string): string => `exchange-label:${requestId}`
