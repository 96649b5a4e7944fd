# In the YAML file, or on the command line as here. It records C++ stacks too: a few steps only.
axolotl train config.yml --profiler-steps 3 --profiler-steps-start 5
# OUTPUT_DIR/snapshot.pickle
