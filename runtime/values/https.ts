/** Whether a text is exactly one https address, without blanks. */
export const isHttpsAddress = (text: string): boolean =>
  /^https:\/\/[^\s/]\S*$/.test(text) && URL.canParse(text)
