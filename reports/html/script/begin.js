// The interactive parts of wic-prof's report. Without this script the page still shows everything.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const colourListeners = [];

